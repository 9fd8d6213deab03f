/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_parallel.c - misuse of the parallel loops. */
#include "testing/misuse.h"

static int do_nothing(void *context, size_t begin, size_t end)
{
	return 0;
}

MISUSE_BY(a_loop_with_no_scheduler_bound_or_given, "sennit_parallel_for",
	  sennit_thread_unbind(),
	  (void)!sennit_parallel_for(0, 9, do_nothing, NULL, NULL,
				     SENNIT_NEVER));

MISUSE_IN(TEST_WITHOUT_COUNT,
	  a_loop_on_a_scheduler_without_workers_from_outside,
	  "sennit_parallel_for")
{
	const sennit_parallel_options options = { .size = sizeof(options),
						  .scheduler = o->s };

	sennit_scheduler_retain(o->s);
	sennit_thread_unbind();
	(void)!sennit_parallel_for(0, 9, do_nothing, NULL, &options,
				   SENNIT_NEVER);
}

static int return_one(void *context, size_t begin, size_t end)
{
	return do_nothing(context, begin, end) + 1;
}

static int accumulate_one(void *context, void *accumulator, size_t begin,
			  size_t end)
{
	return return_one(context, begin, end);
}

static void combine_nothing(void *context, void *left, const void *right)
{
}

static const sennit_scan ones = { .reduction = { .accumulator_size = 1,
						 .accumulate = accumulate_one,
						 .combine = combine_nothing },
				  .put_out = accumulate_one };

static char one;

MISUSE_BY(a_body_that_returns_neither_0_nor_an_error, "sennit_parallel_for",
	  (void)!sennit_parallel_for(0, 9, return_one, NULL, NULL,
				     SENNIT_NEVER));
MISUSE_BY(a_reduction_that_returns_neither_0_nor_an_error,
	  "sennit_parallel_reduce",
	  (void)!sennit_parallel_reduce(0, 9, &ones.reduction, NULL, &one, NULL,
					SENNIT_NEVER));
MISUSE_BY(a_scan_that_returns_neither_0_nor_an_error, "sennit_parallel_scan",
	  (void)!sennit_parallel_scan(0, 9, &ones, NULL, NULL, NULL,
				      SENNIT_NEVER));

static int any_order(const void *left, const void *right, void *context)
{
	uint32_t *random = context;

	*random = *random * 1664525 + 1013904223;
	return *random >> 31 ? -1 : 1;
}

MISUSE_TEST(a_comparison_that_contradicts_itself, "sennit_parallel_sort")
{
	static uint64_t x[2000];
	uint32_t        random = 1;

	(void)!sennit_parallel_sort(x, 2000, 8, any_order, &random, NULL, NULL,
				    SENNIT_NEVER);
}
