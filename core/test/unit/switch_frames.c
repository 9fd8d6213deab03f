/* SPDX-License-Identifier: Apache-2.0 */
/* switch_frames.c - frames on a started stack: deep recursion before and after
 * a switch, and where a backtrace ends. */
#define SN_TEST_SHARED /* floating-point control is not saved here */
#include "switch.h"

#include <unwind.h>

static NOINLINE unsigned descend(unsigned depth)
{
	volatile unsigned char fill[100];

	for (unsigned i = 0; i < sizeof(fill); i++)
		fill[i] = (unsigned char)depth;
	if (depth > 0 && descend(depth - 1) != depth - 1)
		return 0;
	for (unsigned i = 0; i < sizeof(fill); i++) {
		if (fill[i] != (unsigned char)depth)
			return 0;
	}
	return depth;
}

static arch_stack descend_twice(void *argument)
{
	struct pair *p = argument;
	unsigned    *depth = p->data;

	depth[0] = descend(200);
	to_main(p);
	depth[1] = descend(201);
	return p->main;
}

TEST_ON_EACH(deep_recursion_works_before_and_after_a_switch)
{
	unsigned    depth[2] = { 0 };
	struct pair p;

	start_other(&p, m, descend_twice, depth);
	assert_int_equal(descend(300), 300);
	to_other(&p);
	assert_int_equal(depth[0], 200);
	assert_int_equal(depth[1], 201);
}

/* Where unwind tables are those of 32-bit ARM, a frame at which they end is not
 * shown. */
#if defined(__ARM_EABI__)
#define LEAST_FRAMES 1
#else
#define LEAST_FRAMES 2
#endif

/* The caller of entry must be the last frame. Unwinding further would read the
 * memory above the stack. */
static _Unwind_Reason_Code count_one(struct _Unwind_Context *frame, void *count)
{
	if (_Unwind_GetIP(frame))
		++*(int *)count;
	return *(int *)count < 64 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static arch_stack count_callers(void *argument)
{
	struct pair *p = argument;

	_Unwind_Backtrace(count_one, p->data);
	return p->main;
}

TEST_ON_EACH(a_backtrace_ends_where_the_stack_began)
{
	int         callers = 0;
	struct pair p;

	start_other(&p, m, count_callers, &callers);
	assert_in_range(callers, LEAST_FRAMES, 5);
}
