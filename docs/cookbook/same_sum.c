/* SPDX-License-Identifier: Apache-2.0 */
/* same_sum.c - adds up floating-point numbers on all workers, with the same
 * bits in every run and with any number of workers. */
#include <sennit.h>

#include <stdio.h>
#include <string.h>

enum { TERMS = 100000 };

static int add(void *unused, void *accumulator, size_t begin, size_t end)
{
	double *sum = accumulator;

	(void)unused;
	for (size_t i = begin; i < end; i++)
		*sum += 1.0 / (double)i;
	return 0;
}

static void combine(void *unused, void *left, const void *right)
{
	(void)unused;
	*(double *)left += *(const double *)right;
}

static int sum_with(uint32_t workers, double *sum)
{
	const sennit_reduction how = { .accumulator_size = sizeof(double),
				       .accumulate = add,
				       .combine = combine };
	const sennit_parallel_options options = {
		.size = sizeof(options), .flags = SENNIT_PARALLEL_DETERMINISTIC
	};
	sennit_scheduler *s;
	int               err;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = workers)) ||
	    sennit_thread_bind(s))
		return -1;
	err = sennit_parallel_reduce(1, TERMS + 1, &how, NULL, sum, &options,
				     SENNIT_NEVER);
	sennit_thread_unbind();
	return err ? err : sennit_scheduler_shutdown(s, SENNIT_NEVER);
}

int main(void)
{
	double one, four;
	int    same;

	if (sum_with(1, &one) || sum_with(4, &four))
		return 1;
	same = !memcmp(&one, &four, sizeof(one));
	printf("sum %.6f, the same bits: %s\n", one, same ? "yes" : "no");
	return same && one > 12.090146 && one < 12.090147 ? 0 : 1;
}
