/* SPDX-License-Identifier: Apache-2.0 */
/* periodic.c - runs a job each millisecond until its group is cancelled. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

#define PERIOD SENNIT_MILLISECOND

static sennit_semaphore runs = SENNIT_SEMAPHORE_INIT;

static void job(void)
{
	sennit_semaphore_release(&runs, 1);
}

/* Times that have passed while the job ran are left out. */
static int each_period(void *unused)
{
	sennit_time next = sennit_now(), now;
	int         err;

	(void)unused;
	for (;;) {
		job();
		now = sennit_now();
		next += PERIOD;
		if (next <= now)
			next += ((now - next) / PERIOD + 1) * PERIOD;
		err = sennit_sleep_until(next);
		if (err)
			return err;
	}
}

static int run(void)
{
	sennit_group g;
	int          err, ended;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&g, each_period, NULL);
	if (!err)
		err = sennit_semaphore_acquire(&runs, 3);
	sennit_group_cancel(&g);
	ended = sennit_group_wait(&g);
	return err ? err : ended;
}

static int program(void *unused)
{
	int err;

	(void)unused;
	err = run();
	printf("ran 3 times or more, then: %s\n", sennit_strerror(err));
	return err == -ECANCELED ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
