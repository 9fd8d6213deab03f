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

SENNIT_FORK_2(unsigned, primes, unsigned, begin, unsigned, end)
{
	unsigned middle = begin + (end - begin) / 2, left, right;

	if (end - begin == 1)
		return is_prime(begin);
	SENNIT_FORK_SPAWN(primes, half, begin, middle);
	right = SENNIT_FORK_CALL(primes, middle, end);
	left = SENNIT_FORK_SYNC(primes, half);
	return left + right;
}

int main(void)
{
	sennit_scheduler *s;
	unsigned          found;

	if (sennit_scheduler_create(&s, NULL) || sennit_bind(s))
		return 1;
	found = SENNIT_FORK_RUN(primes, 0, 20000);
	sennit_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("primes below 20000: %u\n", found);
	return found == 2262 ? 0 : 1;
}
