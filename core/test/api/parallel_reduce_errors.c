/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_reduce_errors.c - errors, deadlines and cancels end a reduction,
 * and leave the result alone. */
#include "reduce_sums.h"

#include <errno.h>

static int fail_late(void *context, void *accumulator, size_t begin, size_t end)
{
	return end > *(size_t *)context ? -EIO : 0;
}

static const sennit_reduction failing = { .accumulator_size = sizeof(uint64_t),
					  .accumulate = fail_late,
					  .combine = add_sums };

static void fail_somewhere(const sennit_parallel_options *o)
{
	for (size_t at = 0; at < 1000; at += 333) {
		uint64_t sum = 99;

		EXPECT(sennit_parallel_reduce(0, 1000, &failing, &at, &sum, o,
					      SENNIT_NEVER) == -EIO);
		EXPECT(sum == 99);
	}
}

TEST_IN_EACH_PLACE_OF(an_error_leaves_the_result_alone)
{
	with_options(world, fail_somewhere);
}

static int pass_time(void *context, void *accumulator, size_t begin, size_t end)
{
	sennit_yield();
	return 0;
}

static const sennit_reduction endless = { .accumulator_size = sizeof(uint64_t),
					  .accumulate = pass_time,
					  .combine = add_sums };

static void run_late(const sennit_parallel_options *options)
{
	const sennit_parallel_options o = *options;
	sennit_time                   deadline;
	uint64_t                      sum = 99;

	deadline = sennit_after(SENNIT_MILLISECOND / 10);
	if (o.grain == 1)
		EXPECT(sennit_parallel_reduce(0, SIZE_MAX, &endless, NULL, &sum,
					      &o, deadline) == -ETIMEDOUT);
	deadline = 1;
	EXPECT(sennit_parallel_reduce(0, 10, &slow_indices, NULL, &sum, &o,
				      deadline) == -ETIMEDOUT);
	EXPECT(sum == 99);
}

TEST_IN_EACH_PLACE_OF(the_deadline_ends_it)
{
	with_options(world, run_late);
}

static int cancel_and_add(void *context, void *accumulator, size_t begin,
			  size_t end)
{
	if (begin <= 500 && end > 500)
		sennit_group_cancel(context);
	return add_indices(NULL, accumulator, begin, end);
}

static const sennit_reduction cancelling = { .accumulator_size =
						     sizeof(uint64_t),
					     .accumulate = cancel_and_add,
					     .combine = add_sums };

static int reduce_and_cancel(void *argument)
{
	uint64_t                sum = 99;
	sennit_parallel_options o = { .size = sizeof(o), .grain = 10 };

	for (o.flags = 0; o.flags < 2; o.flags++)
		EXPECT(sennit_parallel_reduce(0, 100000, &cancelling, argument,
					      &sum, &o,
					      SENNIT_NEVER) == -ECANCELED);
	EXPECT(sum == 99);
	return 0;
}

TEST_IN_EACH_PLACE_OF(cancelling_the_callers_group_ends_it)
{
	struct world *w = world;
	sennit_group  g;

	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&g, reduce_and_cancel, &g) == 0);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

TEST_IN_EACH_PLACE_OF(bad_arguments_are_refused)
{
	sennit_parallel_options o = on(world, 0, 0);
	sennit_reduction        how = indices;
	uint64_t                sum = 99;

	EXPECT(sennit_parallel_reduce(0, 9, NULL, NULL, &sum, &o,
				      SENNIT_NEVER) == -EINVAL);
	how.accumulator_size = 0;
	EXPECT(sennit_parallel_reduce(0, 9, &how, NULL, &sum, &o,
				      SENNIT_NEVER) == -EINVAL);
	how = indices;
	how.combine = NULL;
	EXPECT(sennit_parallel_reduce(0, 9, &how, NULL, &sum, &o,
				      SENNIT_NEVER) == -EINVAL);
	how = indices;
	how.accumulate = NULL;
	EXPECT(sennit_parallel_reduce(0, 9, &how, NULL, &sum, &o,
				      SENNIT_NEVER) == -EINVAL);
	o.flags = 1u << 31;
	EXPECT(sennit_parallel_reduce(0, 9, &indices, NULL, &sum, &o,
				      SENNIT_NEVER) == -EINVAL);
	EXPECT(sum == 99);
}
