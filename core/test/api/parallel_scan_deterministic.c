/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_scan_deterministic.c - a deterministic scan has the same result to
 * the last bit, whatever the options. */
#include "testing/with_workers.h"

#define N 5000

static double inexact[N];

static int add_inexact(void *context, void *accumulator, size_t begin,
		       size_t end)
{
	for (size_t i = begin; i < end; i++)
		*(double *)accumulator += 1.0 / (double)(i % 101 + 1);
	return 0;
}

static int put_out_inexact(void *context, void *accumulator, size_t begin,
			   size_t end)
{
	for (size_t i = begin; i < end; i++) {
		add_inexact(context, accumulator, i, i + 1);
		((double *)context)[i] = *(double *)accumulator;
	}
	return 0;
}

static void add_doubles(void *context, void *left, const void *right)
{
	*(double *)left += *(const double *)right;
}

static const sennit_scan sums = {
	.reduction = { .accumulator_size = sizeof(double),
		       .accumulate = add_inexact,
		       .combine = add_doubles },
	.put_out = put_out_inexact,
};

/* 64 blocks. Each starts from the sum of the blocks before it, which are added
 * in sequence. */
static void scan_as_told(double *out)
{
	size_t block = (N + 63) / 64;
	double before = 0;

	for (size_t i = 0; i < N; i += block) {
		size_t end = i + block < N ? i + block : N;
		double own = 0, sum = before;

		put_out_inexact(out, &sum, i, end);
		add_inexact(NULL, &own, i, end);
		before += own;
	}
}

TEST_IN_EACH_PLACE_OF(a_deterministic_scan_is_the_same_to_the_last_bit)
{
	const struct world           *w = world;
	static double                 told[N];
	double                        all = 0;
	const sennit_parallel_options o = {
		.size = sizeof(o),
		.scheduler = w->s,
		.flags = SENNIT_PARALLEL_DETERMINISTIC
	};

	scan_as_told(told);
	for (int again = 0; again < 3; again++) {
		EXPECT(sennit_parallel_scan(0, N, &sums, inexact, &all, &o,
					    SENNIT_NEVER) == 0);
		EXPECT(!memcmp(inexact, told, sizeof(told)));
		EXPECT(!memcmp(&all, &told[N - 1], sizeof(all)));
	}
}
