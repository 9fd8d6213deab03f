/* SPDX-License-Identifier: Apache-2.0 */
/* shown.c - shown PATH: a program with a live view. One of its two workers runs
 * "hot one" all the time, which three tasks wait for, while a long waiter and
 * "sleeper" wait. Prints its process number once all of that is so, and ends
 * when its input does. */
#include "sennit.h"
#include "sennit/live.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool  over;
static atomic_uint  begun;
static sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

static void do_nothing(void *unused)
{
	(void)unused;
}

static void must(int err)
{
	if (err) {
		fprintf(stderr, "shown: error %d\n", -err);
		exit(1);
	}
}

static void run_hot(void *unused)
{
	const sennit_task late = { .run = do_nothing,
				   .flags = SENNIT_TASK_SAME_THREAD };

	(void)unused;
	sennit_task_set_name("hot one");
	for (int i = 0; i < 3; i++)
		must(sennit_schedule_task(&late));
	atomic_fetch_add(&begun, 1);
	while (!atomic_load(&over))
		sched_yield();
}

static void wait_long(void *unused)
{
	(void)unused;
	/* What would clear a terminal, if it got there. */
	sennit_task_set_name("long\x1b[2J \"waiter\"");
	atomic_fetch_add(&begun, 1);
	(void)!sennit_event_wait(&never);
}

static void sleep_long(void *unused)
{
	(void)unused;
	sennit_task_set_name("sleeper");
	atomic_fetch_add(&begun, 1);
	sennit_sleep(3600 * SENNIT_SECOND);
}

static void begin(sennit_scheduler *s, sennit_task_fn *run)
{
	const sennit_task t = { .run = run };
	unsigned          before = atomic_load(&begun);

	must(sennit_schedule_task_on(s, &t));
	while (atomic_load(&begun) == before)
		sched_yield();
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	sennit_live      *live;
	char              c;

	if (argc != 2)
		return 2;
	must(sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = 2, .name = "stage")));
	begin(s, wait_long);
	begin(s, sleep_long);
	begin(s, run_hot);
	must(sennit_live_start(&live, NULL, argv[1]));
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	sennit_live_stop(live);
	return 0; /* the sleeper need not end */
}
