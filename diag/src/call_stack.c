/* SPDX-License-Identifier: Apache-2.0 */
#include "call_stack.h"

#include "last_words.h"
#include "sennit/stacks.h"

#include <elf.h>
#include <string.h>

/* Leaves room for one frame: the function of the call is always the last. */
#define ROOM (HELPER_FRAMES - 1)

/* --- functions ---------------------------------------------------------- */

/* Return where the function that contains the frame's address begins; 0: not
 * known. The address is a return address. */
static uintptr_t begin_of(uintptr_t address)
{
	char      name[256];
	uintptr_t offset = 0;

	address--;
	if (sn_last_words_are_spoken()
		    ? !sn_last_words_name(address, &offset)
		    : !sn_program_image_name(address, name, sizeof(name),
					     &offset))
		return 0;
	return address - offset;
}

/* --- the frame pointer -------------------------------------------------- */

/* The kernel reports the stack pointer and the program counter. They suffice
 * for code that finds its frame by them. On x86-64, code may find its frame by
 * %rbp instead. Libc's functions around system calls do not change %rbp, so the
 * walk then ends at the program's function, whose frame is found like this:
 *
 *   - The stack pointer of the function is just above its return address.
 *     Without that address the walk would have ended earlier.
 *   - Above it are adjacent words: the caller's %rbp, to which the function's
 *     own %rbp points, and a return address. That return address must follow a
 *     call of this function by its address, because older stacks that were left
 *     there belong to other functions.
 *   - From there the walk must reach the library's frame.
 *
 * AArch64 stores the frame pointer at the bottom of each frame that makes a
 * call. */

#define RBP  6u
#define WORD sizeof(uintptr_t)

/* Larger than the library's function: names are looked up only for addresses
 * within this distance. */
#define OUTERMOST_SIZE 65536u

struct thread_search {
	struct thread_sample sample;
	uintptr_t            run; /* the function of the blocking call */
	uintptr_t            outermost;
	uint32_t             count;
	const void          *frames[ROOM];
};

/* Ignore whether the walk ends at an outermost frame: libdw also ends where a
 * register is not known. */
static void walk_thread(struct thread_search *s)
{
	bool whole;

	s->count = sn_program_image_walk(&s->sample.frame, &s->sample.memory,
					 s->frames, ROOM, &whole);
}

static uintptr_t last_of(const struct thread_search *s)
{
	return (uintptr_t)s->frames[s->count - 1];
}

/* Remove the library's frames. Returns false if the walk did not reach them. */
static bool cut(struct thread_search *s)
{
	for (uint32_t i = 1; i < s->count; i++)
		if (begin_of((uintptr_t)s->frames[i]) == s->outermost) {
			s->count = i;
			return true;
		}
	return false;
}

/* Report whether the address follows a direct call of the function. */
static bool is_behind_call(uintptr_t address, uintptr_t function)
{
	unsigned char code[5];
	int32_t       distance;

	if (!sn_own_memory_read(code, address - sizeof(code), sizeof(code)))
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	return code[0] == 0xe8 && address + (uintptr_t)distance == function;
}

/* Return the stack pointer of the last frame; 0: not found. */
static uintptr_t find_stack_pointer(struct thread_search *s)
{
	const struct call_frame_memory all = s->sample.memory;
	const uint32_t                 count = s->count;
	const uintptr_t                last = last_of(s);
	uintptr_t                      value;
	uintptr_t                      sp = 0;

	if (count == 1)
		return all.low;
	for (size_t end = WORD; end <= all.size && !sp; end += WORD) {
		if (!sn_call_frame_load(&all, all.low + end - WORD, &value) ||
		    value != last)
			continue;
		s->sample.memory.size = end;
		walk_thread(s);
		if (s->count == count && last_of(s) == last)
			sp = all.low + end;
	}
	s->sample.memory = all;
	return sp;
}

/* Report whether the frame's %rbp may be stored there. */
static bool may_be_frame(const struct thread_search *s, uintptr_t at,
			 uintptr_t function)
{
	uintptr_t back;

	if (!sn_call_frame_load(&s->sample.memory, at + WORD, &back))
		return false;
	return is_behind_call(back, function) ||
	       (function == s->run && back - s->outermost < OUTERMOST_SIZE &&
		begin_of(back) == s->outermost);
}

static bool find_frame(struct thread_search *s)
{
	const struct call_frame_memory *m = &s->sample.memory;
	uintptr_t                       function, sp;

	if (sennit_debug_interrupted.machine != EM_X86_64 || s->count == ROOM)
		return false;
	function = begin_of(last_of(s));
	sp = find_stack_pointer(s);
	if (!function || !sp)
		return false;
	for (uintptr_t at = sp; at - m->low + 2 * WORD <= m->size; at += WORD) {
		if (!may_be_frame(s, at, function))
			continue;
		s->sample.frame.registers[RBP] = at;
		s->sample.frame.known |= UINT64_C(1) << RBP;
		walk_thread(s);
		if (cut(s))
			return true;
	}
	s->sample.frame.known &= ~(UINT64_C(1) << RBP);
	walk_thread(s);
	return false;
}

/* --- the call ----------------------------------------------------------- */

static bool is_in_call(const struct fiber_record *f)
{
	const struct sennit_debug_descriptor *d = &sennit_debug_descriptor;

	return f->helper && f->object &&
	       sn_fiber_record_state(f) == SENNIT_REPORT_BLOCKED &&
	       (f->doing & d->doing_kind) >> d->doing_kind_shift ==
		       SENNIT_WAITS_FOR_CALL;
}

/* Report whether the call was in progress at some moment after f was read and
 * before now. */
static bool is_still_in_call(const struct fiber_record *f)
{
	struct fiber_record again;

	return sn_fiber_record_read(&again, f->at) && again.doing == f->doing &&
	       again.helper == f->helper;
}

static void find_frames(struct helper_stack *h, struct thread_search *s)
{
	walk_thread(s);
	if (cut(s) || find_frame(s))
		h->rest = SENNIT_STACK_NO_REST;
	else if (s->count == ROOM || s->sample.memory.size == sizeof(h->copy))
		h->rest = SENNIT_STACK_DEEPER;
	h->count = s->count;
	memcpy(h->frames, s->frames, s->count * sizeof(h->frames[0]));
}

bool sn_helper_stack_find(struct helper_stack *h, const struct fiber_record *f)
{
	struct thread_search s = {
		.run = f->object,
		.outermost = (uintptr_t)sennit_debug_helpers.outermost,
	};
	bool is_blocked;

	if (!is_in_call(f))
		return false;
	is_blocked = sn_thread_blocked_copy(f->helper, &s.sample, h->copy);
	if (!is_still_in_call(f))
		return false;
	h->thread = f->helper;
	h->count = 0;
	h->rest = SENNIT_STACK_LOST;
	if (is_blocked)
		find_frames(h, &s);
	if (h->rest != SENNIT_STACK_NO_REST)
		h->frames[h->count++] = (const void *)(s.run + 1);
	return true;
}
