/* SPDX-License-Identifier: Apache-2.0 */
/* latency_spike.c - a service whose answers are sometimes late.
 *
 * A request comes from another thread each millisecond, and a fiber serves it
 * at once. Each twentieth request also starts a monthly statement. While that
 * runs, the requests wait. Their median does not show it. The 99th percentile
 * of the scheduling latency does, and the watchdog, with a limit below the
 * spike, says what ran meanwhile.
 *
 * Cure: sennit_yield() in the loop of the statement.
 */
#include <sennit.h>
#include <sennit/metrics.h>
#include <sennit/watchdog.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS 400

static sennit_semaphore  requests;
static volatile uint32_t sum;

/* Not static: the backtraces show their names. */
void monthly_statement(void *unused);
void serve(void *unused);

/* The fault: for 80 ms the task neither waits nor yields. */
void monthly_statement(void *unused)
{
	const sennit_time end = sennit_after(80 * SENNIT_MILLISECOND);

	(void)unused;
	while (sennit_now() < end)
		for (uint32_t i = 0; i < 100000; i++)
			sum = sum * 31 + i;
}

void serve(void *unused)
{
	(void)unused;
	for (int i = 0; i < REQUESTS; i++) {
		if (sennit_semaphore_acquire(&requests, 1))
			return;
		if (i % 20 == 10 && sennit_schedule(monthly_statement, NULL))
			continue; /* no memory */
	}
}

static void print_latency(void *unused, const sennit_metric *m)
{
	(void)unused;
	if (strcmp(m->name, "sennit_scheduling_latency_seconds"))
		return;
	printf("scheduling latency: median %.0f us, 99 %% %.0f ms\n",
	       (double)sennit_histogram_quantile(m->histogram, 0.5) / 1e3,
	       (double)sennit_histogram_quantile(m->histogram, 0.99) / 1e6);
}

int main(void)
{
	const sennit_task task = { .run = serve };
	sennit_scheduler *s;
	sennit_watchdog  *w;

	sennit_semaphore_init(&requests, 0);
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 1, .name = "web")) ||
	    sennit_watchdog_start(
		    &w, s,
		    &(sennit_watchdog_options){
			    .size = sizeof(sennit_watchdog_options),
			    .task_ms = 20,
			    .ready_ms = 20,
			    .fd = STDOUT_FILENO }))
		return 1;
	sennit_metrics_record(s, 1);
	if (sennit_schedule_task_on(s, &task))
		return 1;
	for (int i = 0; i < REQUESTS; i++) {
		usleep(1000);
		sennit_semaphore_release(&requests, 1);
	}
	sennit_watchdog_stop(w);
	sennit_metrics_visit(s, print_latency, NULL);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
