/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.c - Fibonacci numbers: a task computes one half, the caller the
 * other.
 *
 * A wait group on the caller's stack joins them. The wait suspends the fiber.
 * Its worker runs other halves meanwhile, and idle workers steal some.
 */
#include <sennit.h>

#include <stdio.h>

#define N        25
#define EXPECTED 75025
#define CUTOFF   10 /* below, a task costs more than it saves */

struct fib {
	uint32_t          n;
	uint32_t          result;
	sennit_wait_group done;
};

static uint32_t fib_alone(uint32_t n)
{
	return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2);
}

static void fib(void *argument)
{
	struct fib *f = argument;
	struct fib  left = { .n = f->n - 1 }, right = { .n = f->n - 2 };

	if (f->n < CUTOFF) {
		f->result = fib_alone(f->n);
	} else {
		sennit_wait_group_init(&left.done, 1);
		sennit_wait_group_init(&right.done, 1);
		if (sennit_schedule(fib, &left))
			fib(&left); /* no memory for a task: compute it here */
		fib(&right);
		sennit_wait_group_wait(&left.done);
		f->result = left.result + right.result;
	}
	/* The last access: *f lies on the stack of the task that waits for
	 * this. */
	(void)sennit_wait_group_done(&f->done);
}

static int program(void *unused)
{
	struct fib whole = { .n = N };

	(void)unused;
	sennit_wait_group_init(&whole.done, 1);
	if (sennit_schedule(fib, &whole))
		return 1;
	sennit_wait_group_wait(&whole.done);
	printf("fib(%d) = %u\n", N, (unsigned int)whole.result);
	return whole.result == EXPECTED ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
