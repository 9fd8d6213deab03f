/* SPDX-License-Identifier: Apache-2.0 */
/* slow_task.c - a task that computes for long and keeps its worker.
 *
 * While it computes a checksum, the requests of its worker wait. The watchdog
 * says which task runs for too long, and where it is.
 *
 * Cure: call sennit_yield() once per block, or sennit_blocking_call() for code
 * that cannot.
 */
#include <sennit.h>
#include <sennit/watchdog.h>

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static volatile uint32_t sum;

/* Not static: the backtrace shows their names. */
void checksum(void *unused);
void answer(void *unused);

/* The fault: for 0.4 s the task neither waits nor yields. */
void checksum(void *unused)
{
	const sennit_time end = sennit_after(400 * SENNIT_MILLISECOND);

	(void)unused;
	while (sennit_now() < end)
		for (uint32_t i = 0; i < 100000; i++)
			sum = sum * 31 + i;
}

void answer(void *unused)
{
	(void)unused;
	sennit_sleep(10 * SENNIT_MILLISECOND);
}

int main(void)
{
	const sennit_task tasks[] = { { .run = checksum },
				      { .run = answer },
				      { .run = answer },
				      { .run = answer } };
	sennit_scheduler *s;
	sennit_watchdog  *w;

	if (sennit_scheduler_create(&s,
				    SENNIT_CONFIG(.workers = 1, .name = "web")))
		return 1;
	if (sennit_watchdog_start(
		    &w, s,
		    &(sennit_watchdog_options){
			    .size = sizeof(sennit_watchdog_options),
			    .task_ms = 100,
			    .fd = STDOUT_FILENO }))
		return 1;
	if (sennit_schedule_many_on(s, tasks, sizeof(tasks) / sizeof(tasks[0])))
		return 1;
	/* The watchdog keeps the scheduler: stop it first. */
	sleep(1);
	sennit_watchdog_stop(w);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
