/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/suspended_stack.h"

#include "diag/own_memory.h"

#define D       (&sennit_debug_descriptor)
#define CONTEXT 1024u /* bytes of saved registers at most */

bool sn_fiber_before_is_same(const struct fiber_before *b,
			     const struct fiber_record *f)
{
	const uint32_t serial = ~D->doing_state;

	return (b->doing & serial) == (f->doing & serial) &&
	       b->context == f->context && b->task == f->task;
}

/* A wait that is over by now is the same until the fiber runs. */
static bool is_same_wait(const struct fiber_before *b,
			 const struct fiber_record *f)
{
	return sn_fiber_before_is_same(b, f) &&
	       (b->doing & D->doing_state) != SENNIT_REPORT_RUNNING &&
	       sn_fiber_record_state(f) != SENNIT_REPORT_RUNNING;
}

static void copy_stack(struct suspended_stack *s)
{
	char      bytes[CONTEXT] = { 0 };
	uintptr_t sp;

	s->size = 0;
	sn_own_memory_copy(bytes, s->seen.context, sizeof(bytes));
	if (!sn_call_frame_begin(&s->frame, D->context, s->seen.context, bytes))
		return;
	sp = s->frame.registers[s->frame.sp];
	s->size = sizeof(s->copy);
	if (s->seen.low) { /* else its bounds are not known */
		if (sp < s->seen.low || sp >= s->seen.at)
			s->size = 0;
		else if (s->seen.at - sp < s->size)
			s->size = s->seen.at - sp;
	}
	s->size = sn_own_memory_copy(s->copy, sp, s->size);
}

bool sn_suspended_stack_copy(struct suspended_stack    *s,
			     const struct fiber_before *b)
{
	s->before = *b;
	if (!sn_fiber_record_read(&s->seen, b->at) ||
	    !is_same_wait(b, &s->seen))
		return false;
	copy_stack(s);
	return true;
}

bool sn_suspended_stack_is_whole(const struct suspended_stack *s)
{
	struct fiber_record  now;
	struct worker_record worker;

	return s->size && sn_fiber_record_read(&now, s->seen.at) &&
	       is_same_wait(&s->before, &now) && now.worker == s->seen.worker &&
	       sn_worker_record_read(&worker, now.worker) &&
	       worker.current != s->seen.at;
}
