/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sort.c - sorts a million random numbers with a comparison function,
 * as libc's qsort_r does.
 */
#include "harness.h"

#include <string.h>

#define COUNT 1000000

static uint64_t numbers[COUNT];
static uint64_t scratch[COUNT];

static int compare(const void *left, const void *right, void *context)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	(void)context;
	return (l > r) - (l < r);
}

static void make_numbers(void)
{
	uint64_t x = 1;

	for (size_t i = 0; i < COUNT; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		numbers[i] = x;
	}
}

static void check(void)
{
	for (size_t i = 1; i < COUNT; i++)
		bench_check(numbers[i - 1] <= numbers[i], "sort: not sorted");
}

static void by_libc(struct bench_run *r)
{
	sennit_time begin;

	make_numbers();
	begin = sennit_now();
	qsort_r(numbers, COUNT, sizeof(numbers[0]), compare, NULL);
	bench_elapsed(r, begin);
	check();
}

static void by_us(struct bench_run *r)
{
	sennit_time begin;

	make_numbers();
	begin = sennit_now();
	bench_check(!sennit_parallel_sort(numbers, COUNT, sizeof(numbers[0]),
					  compare, NULL, scratch, NULL,
					  SENNIT_NEVER),
		    "sort: an error");
	bench_elapsed(r, begin);
	check();
}

const struct bench_row bench_parallel_sort[] = {
	{ .names = { "parallel-sort/libc" }, .n = COUNT, .run = by_libc },
	BENCH_ROW("parallel-sort/random", COUNT, BENCH_EACH, by_us),
	{ .run = NULL },
};
