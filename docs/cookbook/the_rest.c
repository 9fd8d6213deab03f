/* SPDX-License-Identifier: Apache-2.0 */
/* the_rest.c - asks many, and once the first has answered gives the rest a
 * short time more. */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define AT_MOST (60 * SENNIT_SECOND)
#define MORE    (10 * SENNIT_MILLISECOND)

enum { ASKED = 5 };

static sennit_semaphore answers = SENNIT_SEMAPHORE_INIT;
static atomic_int       answered, late;

/* One of them answers; the sleep of the others stands for a receive. */
static int ask(void *number)
{
	int err = number ? sennit_sleep_until(SENNIT_NEVER) : 0;

	atomic_fetch_add(err == -ETIMEDOUT ? &late : &answered, 1);
	if (!err)
		sennit_semaphore_release(&answers, 1);
	return err;
}

static int run(void *unused)
{
	sennit_group g;
	int          err = 0;

	(void)unused;
	sennit_group_init(&g, sennit_after(AT_MOST), SENNIT_GROUP_KEEP_GOING);
	for (intptr_t i = 0; i < ASKED && !err; i++)
		err = sennit_group_spawn(&g, ask, (void *)i);
	if (!err)
		err = sennit_semaphore_acquire_until(&answers, 1,
						     sennit_after(AT_MOST));
	sennit_group_set_deadline(&g, sennit_after(MORE));
	while (sennit_group_wait_until(&g, sennit_after(SENNIT_SECOND)))
		printf("%u are left\n", sennit_group_members(&g));
	sennit_group_wait(&g); /* -ETIMEDOUT: of those that were late */
	return err;
}

int main(void)
{
	int result;

	if (sennit_run(run, NULL, NULL, &result) || result)
		return 1;
	printf("%d answered, %d were too late\n", answered, late);
	return answered + late == ASKED && answered ? 0 : 1;
}
