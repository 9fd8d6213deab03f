/* SPDX-License-Identifier: Apache-2.0 */
/* long_computation.c - a member that computes for long lets others run, and
 * asks whether it should stop. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

static uint64_t state = 1; /* of the computation */

static void compute_a_little(void)
{
	for (int i = 0; i < 1000; i++)
		state = state * 6364136223846793005u + 1442695040888963407u;
}

/* Never done. */
static int compute(void *unused)
{
	int err;

	(void)unused;
	while (!(err = sennit_check_cancelled())) {
		compute_a_little();
		sennit_yield();
	}
	return err;
}

/* Runs although compute() never waits. */
static int stop(void *group)
{
	sennit_group_cancel(group);
	return 0;
}

static int run(void)
{
	sennit_group g;
	int          err;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&g, compute, NULL);
	if (!err)
		err = sennit_group_spawn(&g, stop, &g);
	if (err)
		sennit_group_cancel(&g);
	return sennit_group_wait(&g);
}

int main(void)
{
	sennit_scheduler *s;
	int               err;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_thread_bind(s))
		return 1;
	err = run();
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("the computation: %s\n", sennit_strerror(err));
	return err == -ECANCELED ? 0 : 1;
}
