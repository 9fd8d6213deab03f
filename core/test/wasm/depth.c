/* SPDX-License-Identifier: Apache-2.0 */
/* depth.c - tasks that waits call on the stack of the waiter, each within the
 * one before, until a stack is too full and the next one gets another. At the
 * last wait the variables of all frames are written into what the calls have
 * left free of their stacks. Small frames of C are the hard case, since they
 * leave room for many frames of the machine, and so are many variables whose
 * address is not taken, since those are in frames of the machine alone.
 */
#include "testing/test.h"

#include "testing/tied.h"

#define DEPTH 5000

static void small_frames(void *argument)
{
	unsigned         *left = argument;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	if (!(*left)--) {
		sennit_sleep(SENNIT_MICROSECOND);
		return;
	}
	tie(&g, small_frames, left);
	sennit_wait_group_wait(&g);
}

/* What the values were before the wait. */
static void expect_sums(const double *sums, double first)
{
	for (int i = 0; i < 12; i++)
		EXPECT(sums[i] == first * (i + 1) + i);
}

static void many_variables(void *argument)
{
	unsigned         *left = argument;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;
	const double      x = *left;
	const double      a = x, b = x * 2 + 1, c = x * 3 + 2, d = x * 4 + 3;
	const double      e = x * 5 + 4, f = x * 6 + 5, h = x * 7 + 6;
	const double      i = x * 8 + 7, j = x * 9 + 8, k = x * 10 + 9;
	const double      l = x * 11 + 10, m = x * 12 + 11;

	if (!(*left)--) {
		sennit_sleep(SENNIT_MICROSECOND);
		return;
	}
	tie(&g, many_variables, left);
	sennit_wait_group_wait(&g);
	expect_sums((double[]){ a, b, c, d, e, f, h, i, j, k, l, m }, x);
}

static void chain(sennit_task_fn *run)
{
	unsigned left = DEPTH;

	in_a_task(run, &left);
	assert_int_equal(left, UINT32_MAX);
}

TEST_WITH_WORKERS(small_frames_go_on_on_other_stacks)
{
	chain(small_frames);
}

TEST_WITH_WORKERS(frames_of_many_variables_go_on_on_other_stacks)
{
	chain(many_variables);
}
