/* SPDX-License-Identifier: Apache-2.0 */
/* openmp_before.c - a loop with a sum, and tasks for a recursion. */
#include <stdio.h>

enum { TERMS = 100000 };

static double pi_by_loop(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < TERMS; i++) {
		double x = (i + 0.5) / TERMS;

		sum += 4 / (1 + x * x);
	}
	return sum / TERMS;
}

static unsigned fib(unsigned n)
{
	unsigned a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fib(n - 1);
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(void)
{
	double   pi = pi_by_loop();
	unsigned f = 0;

#pragma omp parallel
#pragma omp single
	f = fib(18);
	printf("pi %.6f, fib %u\n", pi, f);
	return f == 2584 ? 0 : 1;
}
