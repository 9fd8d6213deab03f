/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_reduce.c - the sum of a million numbers, and their prefix sums. */
#include "harness.h"

#define ELEMENTS 1000000

static double in[ELEMENTS];
static double out[ELEMENTS];

static int add(void *context, void *accumulator, size_t begin, size_t end)
{
	const double *x = context;
	double        sum = *(double *)accumulator;

	for (size_t i = begin; i < end; i++)
		sum += x[i];
	*(double *)accumulator = sum;
	return 0;
}

static int put_out(void *context, void *accumulator, size_t begin, size_t end)
{
	const double *x = context;
	double        sum = *(double *)accumulator;

	for (size_t i = begin; i < end; i++)
		out[i] = sum += x[i];
	*(double *)accumulator = sum;
	return 0;
}

static void combine(void *context, void *left, const void *right)
{
	(void)context;
	*(double *)left += *(const double *)right;
}

static const sennit_scan sums = { .reduction = { .accumulator_size =
							 sizeof(double),
						 .accumulate = add,
						 .combine = combine },
				  .put_out = put_out };

/* Small integers, whose sums are exact in any order. */
static void fill(void)
{
	for (size_t i = 0; i < ELEMENTS; i++)
		in[i] = (double)(i % 4);
}

static void check(double sum)
{
	bench_check(sum == ELEMENTS / 4 * 6.0, "parallel: a wrong sum");
}

static void add_serially(struct bench_run *r)
{
	double      sum = 0;
	sennit_time begin;

	fill();
	begin = sennit_now();
	add(in, &sum, 0, ELEMENTS);
	bench_elapsed(r, begin);
	check(sum);
}

static void reduce_with(struct bench_run *r, uint32_t flags)
{
	const sennit_parallel_options o = { .size = sizeof(o), .flags = flags };
	double                        sum = 0;
	sennit_time                   begin;

	fill();
	begin = sennit_now();
	bench_check(!sennit_parallel_reduce(0, ELEMENTS, &sums.reduction, in,
					    &sum, &o, SENNIT_NEVER),
		    "parallel reduce: an error");
	bench_elapsed(r, begin);
	check(sum);
}

static void reduce(struct bench_run *r)
{
	reduce_with(r, 0);
}

static void reduce_deterministic(struct bench_run *r)
{
	reduce_with(r, SENNIT_PARALLEL_DETERMINISTIC);
}

static void scan_serially(struct bench_run *r)
{
	double      sum = 0;
	sennit_time begin;

	fill();
	begin = sennit_now();
	put_out(in, &sum, 0, ELEMENTS);
	bench_elapsed(r, begin);
	check(sum);
}

static void scan(struct bench_run *r)
{
	double      sum = 0;
	sennit_time begin;

	fill();
	begin = sennit_now();
	bench_check(!sennit_parallel_scan(0, ELEMENTS, &sums, in, &sum, NULL,
					  SENNIT_NEVER),
		    "parallel scan: an error");
	bench_elapsed(r, begin);
	check(sum);
	check(out[ELEMENTS - 1]);
}

const struct bench_row bench_parallel_reduce[] = {
	{ .names = { "parallel-reduce/serial" },
	  .n = ELEMENTS,
	  .run = add_serially },
	BENCH_ROW("parallel-reduce/sum", ELEMENTS, BENCH_EACH, reduce),
	BENCH_ROW("parallel-reduce/deterministic", ELEMENTS, BENCH_EACH,
		  reduce_deterministic),
	{ .names = { "parallel-scan/serial" },
	  .n = ELEMENTS,
	  .run = scan_serially },
	BENCH_ROW("parallel-scan/sums", ELEMENTS, BENCH_EACH, scan),
	{ .run = NULL },
};
