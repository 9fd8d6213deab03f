/* SPDX-License-Identifier: Apache-2.0 */
/* 06_group.c - one member of a group fails, which ends the waits of the
 * others; the opener gets the first error. */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

enum { PATIENT = 100 };

static sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static atomic_int   gave_up;

static int wait_for_news(void *unused)
{
	int err = sennit_event_wait_until(&never, SENNIT_NEVER);

	(void)unused;
	if (err == -ECANCELED)
		atomic_fetch_add(&gave_up, 1);
	return err;
}

static int fail(void *unused)
{
	(void)unused;
	return -EIO;
}

static int run(void)
{
	sennit_group g;
	int          err = 0;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < PATIENT && !err; i++)
		err = sennit_group_spawn(&g, wait_for_news, NULL);
	if (!err)
		err = sennit_group_spawn(&g, fail, NULL);
	if (err)
		sennit_group_cancel(&g);
	return sennit_group_wait(&g); /* all members have ended now */
}

static int program(void *unused)
{
	int err = run();

	(void)unused;
	printf("error: %s; %d members gave up\n", sennit_strerror(err),
	       atomic_load(&gave_up));
	return err == -EIO && gave_up == PATIENT ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
