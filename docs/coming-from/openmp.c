/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.c - a loop with a sum, and tasks for a recursion. */
#include <sennit.h>
#include <sennit/fork_join.h>

#include <stdio.h>

enum { TERMS = 100000 };

static int add(void *unused, void *accumulator, size_t begin, size_t end)
{
	double sum = 0;

	(void)unused;
	for (size_t i = begin; i < end; i++) {
		double x = ((double)i + 0.5) / TERMS;

		sum += 4 / (1 + x * x);
	}
	*(double *)accumulator += sum;
	return 0;
}

static void combine(void *unused, void *left, const void *right)
{
	(void)unused;
	*(double *)left += *(const double *)right;
}

static int pi_by_loop(double *pi)
{
	const sennit_reduction how = { .accumulator_size = sizeof(double),
				       .accumulate = add,
				       .combine = combine };
	int err = sennit_parallel_reduce(0, TERMS, &how, NULL, pi, NULL,
					 SENNIT_NEVER);

	*pi /= TERMS;
	return err;
}

SENNIT_FORK(unsigned, fib, unsigned, n)
{
	unsigned a, b;

	if (n < 2)
		return n;
	SENNIT_FORK_SPAWN(fib, other, n - 1);
	b = SENNIT_FORK_CALL(fib, n - 2);
	a = SENNIT_FORK_SYNC(fib, other);
	return a + b;
}

static int program(void *unused)
{
	double   pi = 0;
	unsigned f;
	int      err;

	(void)unused;
	err = pi_by_loop(&pi);
	f = SENNIT_FORK_RUN(fib, 18);
	if (err)
		return 1;
	printf("pi %.6f, fib %u\n", pi, f);
	return f == 2584 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
