/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - a party that does not wait for ever. */
#include "calls.h"

static sennit_barrier both;

static int arrive(void *unused)
{
	(void)unused;
	(void)sennit_barrier_wait(&both);
	return 0;
}

static void show(sennit_scheduler *s)
{
	sennit_group g;

	(void)s;
	sennit_barrier_init(&both, 2);

	/* No other party arrives, so this one withdraws. */
	CHECK(sennit_barrier_wait_until(
		      &both, sennit_after(SENNIT_MILLISECOND)) == -ETIMEDOUT);

	/* The other party comes. 1: this one was the last, 0: it was not. */
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, arrive, NULL) == 0);
	CHECK(sennit_barrier_wait_until(&both, soon()) >= 0);
	CHECK(sennit_group_wait(&g) == 0);
	sennit_barrier_destroy(&both);
}

int main(void)
{
	return run(show);
}
