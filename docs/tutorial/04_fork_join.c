/* SPDX-License-Identifier: Apache-2.0 */
/* 04_fork_join.c - counts primes by halves: a worker that has nothing to do
 * takes the other half. */
#include <sennit.h>
#include <sennit/fork_join.h>

#include <stdio.h>

static unsigned is_prime(unsigned n)
{
	for (unsigned d = 2; d * d <= n; d++)
		if (n % d == 0)
			return 0;
	return n >= 2;
}

SENNIT_FORK(unsigned, primes, unsigned, begin, unsigned, end)
{
	unsigned middle = begin + (end - begin) / 2, left, right;

	if (end - begin == 1)
		return is_prime(begin);
	SENNIT_FORK_SPAWN(primes, half, begin, middle);
	right = SENNIT_FORK_CALL(primes, middle, end);
	left = SENNIT_FORK_SYNC(primes, half);
	return left + right;
}

static int program(void *unused)
{
	unsigned found;

	(void)unused;
	found = SENNIT_FORK_RUN(primes, 0, 20000);
	printf("primes below 20000: %u\n", found);
	return found == 2262 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
