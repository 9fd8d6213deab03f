/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/depth.h"

#include "sched/fiber.h"
#include "sched/hooks.h"

#ifdef SENNIT_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#define LOOK_BELOW()   VALGRIND_DISABLE_ERROR_REPORTING
#define LOOKED_BELOW() VALGRIND_ENABLE_ERROR_REPORTING
#else
#define LOOK_BELOW()   ((void)0)
#define LOOKED_BELOW() ((void)0)
#endif

/* Bytes: more than the frame of a leaf function, plus the area below it that
 * the ABI lets it use. */
#define LEAF_FRAME 384

/* --- the table ---------------------------------------------------------- */

static struct stack_depth *depth_of_function(struct stack_depths *d,
					     uintptr_t            function)
{
	uint32_t i =
		(uint32_t)((uint64_t)function * UINT64_C(0x9e3779b97f4a7c15) >>
			   32);

	for (uint32_t n = 0; n < STACK_DEPTH_FUNCTIONS; n++, i++) {
		struct stack_depth *p = &d->of[i % STACK_DEPTH_FUNCTIONS];
		uintptr_t           there = 0;

		if (a_load_rlx(&p->function) == function ||
		    a_cas_rlx(&p->function, &there, function) ||
		    there == function)
			return p;
	}
	return &d->of[STACK_DEPTH_FUNCTIONS];
}

void sn_stack_depth_note(struct stack_depths *d, uintptr_t function,
			 size_t bytes)
{
	struct stack_depth *p = depth_of_function(d, function);
	uint64_t            deepest = a_load_rlx(&p->deepest);

	while (bytes > deepest && !a_cas_rlx(&p->deepest, &deepest, bytes))
		;
	a_add_rlx(&p->tasks, 1);
}

/* --- paint -------------------------------------------------------------- */

/* These functions access memory below the stack pointer, in frames that have
 * returned. Sanitizers must not check these accesses. The functions do not call
 * memset(), because sanitizers intercept it. */

static ALWAYS_INLINE uintptr_t paint_of(const uintptr_t *word)
{
	return (uintptr_t)UINT64_C(0xc2b2ae3d27d4eb4f) ^ (uintptr_t)word;
}

NO_SANITIZE static ALWAYS_INLINE void paint(char *low, const char *high)
{
	uintptr_t       *word = (uintptr_t *)(void *)low;
	const uintptr_t *end = (const uintptr_t *)(const void *)high;

	LOOK_BELOW();
	for (; word < end; word++)
		*(volatile uintptr_t *)word = paint_of(word);
	LOOKED_BELOW();
}

NO_SANITIZE NOINLINE void sn_stack_depth_paint(char *low, char *high)
{
	paint(low, high);
}

NO_SANITIZE NOINLINE void sn_stack_depth_paint_below(char *low)
{
	paint(low, (char *)__builtin_frame_address(0) - LEAF_FRAME);
}

NO_SANITIZE NOINLINE char *sn_stack_depth_bottom(char *low, char *high)
{
	uintptr_t       *word = (uintptr_t *)(void *)low;
	const uintptr_t *end = (const uintptr_t *)(const void *)high;

	LOOK_BELOW();
	while (word < end &&
	       *(const volatile uintptr_t *)word == paint_of(word))
		word++;
	LOOKED_BELOW();
	return (char *)word;
}

/* --- fibers ------------------------------------------------------------- */

void sn_depth_begin(struct sennit_fiber *f)
{
	sn_stack_depth_paint(f->low, (char *)f);
	f->cleanup |= CLEANUP_DEPTH;
	/* Group members get separate stacks. Frames of a member below the
	 * opener's frames would count as the opener's depth. */
	f->shallow = (char *)f;
}

/* The depth of f, which runs, since the measurement began or since the last
 * call. */
static size_t take_depth(struct sennit_fiber *f)
{
	char *bottom = sn_stack_depth_bottom(f->low, (char *)f);

	sn_stack_depth_paint_below(bottom);
	return (size_t)((char *)f - bottom);
}

/* Clears the task that reports show, because the end of a DAG's node is not the
 * end of the task that runs it. */
void sn_depth_end_task(struct sennit_fiber *f)
{
	struct stack_depths *d = sn_worker_of(f)->scheduler->depths;
	uintptr_t task = (uintptr_t)sn_fiber_state_get_task(&f->state);

	if (task)
		sn_stack_depth_note(d, task, take_depth(f));
	sn_fiber_state_set_task(&f->state, NULL);
}
