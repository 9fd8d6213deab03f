/* SPDX-License-Identifier: Apache-2.0 */
/* observed.c - the program that testing/build/metrics.sh and probes.sh look at:
 * TASKS tasks on one worker, of which WAITS wait for an event each. With the
 * argument "metrics" it writes its metrics when all have ended: as OpenMetrics
 * to its output, for Prometheus to its errors. */
#include "sennit.h"
#include "sennit/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 300, WAITS = 100 };

static sennit_event      open_now;
static sennit_wait_group left;

static void pass(void *waits)
{
	if (waits)
		if (sennit_event_wait(&open_now))
			abort();
	sennit_wait_group_done(&left);
}

static void work(void *unused)
{
	(void)unused;
	sennit_event_init(&open_now, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&left, TASKS);
	for (int i = 0; i < TASKS; i++)
		if (sennit_schedule(pass, i < WAITS ? &left : NULL))
			abort();
	sennit_sleep(20 * SENNIT_MILLISECOND); /* they wait by then, or they
						* need not */
	sennit_event_set(&open_now);
	sennit_wait_group_wait(&left);
}

static void wait_for_end(sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	do {
		usleep(1000);
		sennit_scheduler_get_stats(s, &stats);
	} while (stats.tasks != TASKS + 1);
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	sennit_task       task = { .run = work };
	bool              measured = argc == 2 && !strcmp(argv[1], "metrics");

	sennit_function_set_name(pass, "pass");
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 1, .name = "a\"b\\c")))
		return 1;
	sennit_metrics_record(s, measured);
	if (sennit_schedule_task_on(s, &task))
		return 1;
	wait_for_end(s);
	if (measured &&
	    sennit_metrics_write(s, STDOUT_FILENO, SENNIT_METRICS_OPENMETRICS))
		return 1;
	if (measured &&
	    sennit_metrics_write(s, STDERR_FILENO, SENNIT_METRICS_PROMETHEUS))
		return 1;
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
