/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_tree.c - cancels a tree of tasks by its root; each task tidies up, and
 * that is not cancelled. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

enum { SERVICES = 3, JOBS = 3 };

static sennit_wait_group started;
static sennit_channel    logged = SENNIT_CHANNEL_INIT(sizeof(int));

static int job(void *unused)
{
	int err;

	(void)unused;
	sennit_wait_group_done(&started);
	err = sennit_sleep_until(SENNIT_NEVER);
	/* With SENNIT_NEVER this wait would end at once. */
	if (sennit_channel_send_until(&logged, &err, SENNIT_UNCANCELLED))
		return -EIO;
	return err;
}

static int service(void *unused)
{
	sennit_group jobs;
	int          err = 0, ended;

	(void)unused;
	sennit_group_init(&jobs, SENNIT_NEVER, 0);
	for (int i = 0; i < JOBS && !err; i++)
		err = sennit_group_spawn(&jobs, job, NULL);
	ended = sennit_group_wait(&jobs);
	return ended ? ended : err;
}

static int run(void)
{
	sennit_group all;
	int          err = 0, said, canceled = 0;

	sennit_wait_group_init(&started, SERVICES * JOBS);
	sennit_group_init(&all, SENNIT_NEVER, 0);
	for (int i = 0; i < SERVICES && !err; i++)
		err = sennit_group_spawn(&all, service, NULL);
	if (!err)
		sennit_wait_group_wait(&started);
	sennit_group_cancel(&all);
	if (err) /* some never began: send nothing */
		sennit_channel_close(&logged);
	for (int i = 0; i < SERVICES * JOBS; i++)
		if (!sennit_channel_receive(&logged, &said))
			canceled += said == -ECANCELED;
	return sennit_group_wait(&all) == -ECANCELED ? canceled : -1;
}

static int program(void *unused)
{
	int canceled;

	(void)unused;
	canceled = run();
	printf("%d jobs were cancelled and tidied up\n", canceled);
	return canceled == SERVICES * JOBS ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
