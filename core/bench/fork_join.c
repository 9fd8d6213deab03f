/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.c - a fork-join load with wait groups. fib.c measures it. */
#include "harness.h"

struct half {
	sennit_wait_group done;
	unsigned          argument;
};

static void run_half(void *argument)
{
	struct half *h = argument;

	bench_fork_join(h->argument);
	sennit_wait_group_done(&h->done);
}

void bench_fork_join(unsigned n)
{
	struct half other;

	if (n < 2)
		return;
	other.argument = n - 1;
	sennit_wait_group_init(&other.done, 1);
	spawn(run_half, &other);
	bench_fork_join(n - 2);
	sennit_wait_group_wait(&other.done);
}
