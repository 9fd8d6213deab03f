/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_parallel.c - misuse of the parallel loops. */
#include "misuse.h"

static int do_nothing(void *context, size_t begin, size_t end)
{
	(void)context;
	(void)begin;
	(void)end;
	return 0;
}

static void commit_loop_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	(void)!sennit_parallel_for(0, 9, do_nothing, NULL, NULL);
}

TEST_WITH_COUNTS(a_loop_with_no_scheduler_bound_or_given)
{
	assert_misuse(w, "sennit_parallel_for", commit_loop_unbound);
}

static void commit_loop_elsewhere(const struct offence *o)
{
	const sennit_parallel_options options = { .scheduler = o->s };

	sennit_scheduler_retain(o->s);
	sennit_unbind();
	(void)!sennit_parallel_for(0, 9, do_nothing, NULL, &options);
}

TEST_IN_WORLDS(a_loop_on_a_scheduler_without_workers_from_outside,
	       IN_WORLD(a_loop_on_a_scheduler_without_workers_from_outside,
			"_w0", open_count, close_count, 0))
{
	assert_misuse(w, "sennit_parallel_for", commit_loop_elsewhere);
}

static int return_one(void *context, size_t begin, size_t end)
{
	return do_nothing(context, begin, end) + 1;
}

static void commit_positive_error(const struct offence *o)
{
	(void)o;
	(void)!sennit_parallel_for(0, 9, return_one, NULL, NULL);
}

TEST_WITH_COUNTS(a_body_that_returns_neither_0_nor_an_error)
{
	assert_misuse(w, "sennit_parallel_for", commit_positive_error);
}

static int accumulate_one(void *context, void *accumulator, size_t begin,
			  size_t end)
{
	(void)accumulator;
	return return_one(context, begin, end);
}

static void combine_nothing(void *context, void *left, const void *right)
{
	(void)context;
	(void)left;
	(void)right;
}

static const sennit_scan ones = { .reduction = { .size = 1,
						 .accumulate = accumulate_one,
						 .combine = combine_nothing },
				  .put_out = accumulate_one };

static void commit_positive_reduce(const struct offence *o)
{
	char one;

	(void)o;
	(void)!sennit_parallel_reduce(0, 9, &ones.reduction, NULL, &one, NULL);
}

TEST_WITH_COUNTS(a_reduction_that_returns_neither_0_nor_an_error)
{
	assert_misuse(w, "sennit_parallel_reduce", commit_positive_reduce);
}

static void commit_positive_scan(const struct offence *o)
{
	(void)o;
	(void)!sennit_parallel_scan(0, 9, &ones, NULL, NULL, NULL);
}

TEST_WITH_COUNTS(a_scan_that_returns_neither_0_nor_an_error)
{
	assert_misuse(w, "sennit_parallel_scan", commit_positive_scan);
}

static int any_order(const void *left, const void *right, void *context)
{
	uint32_t *random = context;

	(void)left;
	(void)right;
	*random = *random * 1664525 + 1013904223;
	return *random >> 31 ? -1 : 1;
}

static void commit_contradiction(const struct offence *o)
{
	static uint64_t x[2000];
	uint32_t        random = 1;

	(void)o;
	(void)!sennit_parallel_sort(x, 2000, 8, any_order, &random, NULL, NULL);
}

TEST_WITH_COUNTS(a_comparison_that_contradicts_itself)
{
	assert_misuse(w, "sennit_parallel_sort", commit_contradiction);
}
