/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - a thread that is not bound shows how far tasks have come. */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

enum { STEPS = 1000 };

static atomic_int        done;
static sennit_wait_group left;

static void step(void *unused)
{
	(void)unused;
	sennit_sleep(100 * SENNIT_MICROSECOND);
	atomic_fetch_add(&done, 1);
	sennit_wait_group_done(&left);
}

static void show(int percent)
{
	if (percent == 100) /* or each of them, on a terminal */
		printf("%d %%\n", percent);
}

/* Waits for the end, and looks up each millisecond meanwhile. */
static int watch(void)
{
	int percent, last = 0, backwards = 0;

	while (sennit_wait_group_wait_until(
		       &left, sennit_after(SENNIT_MILLISECOND)) == -ETIMEDOUT) {
		percent = atomic_load(&done) * 100 / STEPS;
		backwards += percent < last;
		if (percent != last && percent < 100)
			show(percent);
		last = percent;
	}
	show(atomic_load(&done) * 100 / STEPS);
	return backwards;
}

int main(void)
{
	const sennit_task task = { .run = step };
	sennit_scheduler *s;
	int               backwards;

	if (sennit_scheduler_create(&s, NULL))
		return 1;
	sennit_wait_group_init(&left, STEPS);
	for (int i = 0; i < STEPS; i++)
		if (sennit_schedule_task_on(s, &task))
			return 1;
	backwards = watch();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return !backwards && done == STEPS ? 0 : 1;
}
