/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - finds, packs, sorts and adds up the primes below a limit, each
 * on all workers.
 *
 * for     marks them
 * scan    packs them: the index of a prime is the number of primes before it
 * sort    sorts them by their last digit
 * reduce  adds them up
 */
#include <sennit.h>

#include <stdio.h>

#define LIMIT  100000
#define COUNT  9592      /* primes below LIMIT */
#define SUM    454396537 /* their sum */
#define LAST_1 2387      /* those that end in 1 */

static unsigned char is_prime[LIMIT];
static uint32_t      primes[COUNT];

static int mark(void *context, size_t begin, size_t end)
{
	(void)context;
	for (size_t i = begin; i < end; i++) {
		size_t d = 2;

		while (d * d <= i && i % d)
			d++;
		is_prime[i] = i > 1 && d * d > i;
	}
	return 0;
}

static int count(void *context, void *before, size_t begin, size_t end)
{
	size_t *n = before;

	(void)context;
	for (size_t i = begin; i < end; i++)
		*n += is_prime[i];
	return 0;
}

static int pack(void *context, void *before, size_t begin, size_t end)
{
	size_t *n = before;

	(void)context;
	for (size_t i = begin; i < end; i++)
		if (is_prime[i])
			primes[(*n)++] = (uint32_t)i;
	return 0;
}

static void add_counts(void *context, void *left, const void *right)
{
	(void)context;
	*(size_t *)left += *(const size_t *)right;
}

/* The sort is stable: primes with equal last digits keep their order. */
static int by_last_digit(const void *left, const void *right, void *context)
{
	(void)context;
	return (int)(*(const uint32_t *)left % 10) -
	       (int)(*(const uint32_t *)right % 10);
}

static int add(void *context, void *accumulator, size_t begin, size_t end)
{
	uint64_t *sum = accumulator;

	(void)context;
	for (size_t i = begin; i < end; i++)
		*sum += primes[i];
	return 0;
}

static void add_sums(void *context, void *left, const void *right)
{
	(void)context;
	*(uint64_t *)left += *(const uint64_t *)right;
}

static const sennit_reduction sums = { .accumulator_size = sizeof(uint64_t),
				       .accumulate = add,
				       .combine = add_sums };

static const sennit_scan packed = { .reduction = { .accumulator_size =
							   sizeof(size_t),
						   .accumulate = count,
						   .combine = add_counts },
				    .put_out = pack };

static int find(size_t *n, uint64_t *sum)
{
	int err;

	err = sennit_parallel_for(0, LIMIT, mark, NULL, NULL, SENNIT_NEVER);
	if (!err)
		err = sennit_parallel_scan(0, LIMIT, &packed, NULL, n, NULL,
					   SENNIT_NEVER);
	if (!err)
		err = sennit_parallel_sort(primes, *n, sizeof(primes[0]),
					   by_last_digit, NULL, NULL, NULL,
					   SENNIT_NEVER);
	if (!err)
		err = sennit_parallel_reduce(0, *n, &sums, NULL, sum, NULL,
					     SENNIT_NEVER);
	return err;
}

static int program(void *unused)
{
	size_t   n = 0;
	uint64_t sum = 0;
	int      err;

	(void)unused;
	err = find(&n, &sum);
	if (err)
		return 1;
	printf("%zu primes below %d, the last that ends in 1 is %u, sum %llu\n",
	       n, LIMIT, (unsigned int)primes[LAST_1 - 1],
	       (unsigned long long)sum);
	return n == COUNT && sum == SUM && primes[LAST_1 - 1] == 99991 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
