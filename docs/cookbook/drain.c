/* SPDX-License-Identifier: Apache-2.0 */
/* drain.c - accepts no more jobs, lets those that run end by themselves until a
 * deadline, and cancels the rest. */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define PATIENCE SENNIT_SECOND

enum { QUICK = 10, STUCK = 2 };

static atomic_int done, cancelled;

static int quick(void *unused)
{
	int err = sennit_sleep(SENNIT_MICROSECOND);

	(void)unused;
	atomic_fetch_add(err ? &cancelled : &done, 1);
	return err;
}

static int stuck(void *unused)
{
	(void)unused;
	atomic_fetch_add(&cancelled, 1);
	return sennit_sleep_until(SENNIT_NEVER);
}

static int run(void *unused)
{
	sennit_group jobs;
	int          err = 0, ended;

	(void)unused;
	sennit_group_init(&jobs, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	for (int i = 0; i < QUICK + STUCK && !err; i++)
		err = sennit_group_spawn(&jobs, i < QUICK ? quick : stuck,
					 NULL);
	/* No task spawns into the group from here on. */
	ended = sennit_group_drain(&jobs, sennit_after(PATIENCE));
	if (ended == -ECANCELED)
		printf("some had to be cancelled\n");
	return err;
}

int main(void)
{
	int result;

	if (sennit_run(run, NULL, NULL, &result) || result)
		return 1;
	printf("%d done, %d cancelled\n", done, cancelled);
	return done == QUICK && cancelled == STUCK ? 0 : 1;
}
