/* SPDX-License-Identifier: Apache-2.0 */
/* suspended_stack.h - the copy of a stack, and the proof that the stack was
 * suspended while it was copied. For a fiber f of a worker w:
 *
 *   1. f's state word says that f waits, or is ready (struct fiber_before).
 *   2. w is somewhere else, on another stack than f's: the caller knows that.
 *   3. The stack is copied (sn_suspended_stack_copy).
 *   4. f's state word names the same wait, and w->current is not f
 *      (sn_suspended_stack_is_whole).
 *
 * 1 and 2 prove that w has left f after f began the wait. A fiber that is
 * resumed becomes w->current before it changes its stack, and its state word
 * changes before w->current does so again. So 4 proves that f was not resumed
 * before the copy was complete. sn_own_memory_barrier() stands between 1 and 2,
 * and between 3 and 4. */
#ifndef SN_SUSPENDED_STACK_H
#define SN_SUSPENDED_STACK_H

#include "diag/call_frame.h"
#include "diag/fiber_record.h"
#include "diag/thread_sample.h"

/* What a fiber was before its worker was found somewhere else. */
struct fiber_before {
	uintptr_t at;
	uintptr_t context;
	uintptr_t task;
	uint32_t  doing;
};

struct suspended_stack {
	struct fiber_before before;
	struct fiber_record seen;
	struct call_frame   frame;
	size_t              size; /* of the copy; 0: none */
	char                copy[THREAD_SAMPLE_COPY];
};

/* Whether f runs, or waits, as before. */
bool sn_fiber_before_is_same(const struct fiber_before *b,
			     const struct fiber_record *f);

/* Copy the stack. Returns false if the fiber runs, or has changed. */
bool sn_suspended_stack_copy(struct suspended_stack    *s,
			     const struct fiber_before *b);

bool sn_suspended_stack_is_whole(const struct suspended_stack *s);

#endif
