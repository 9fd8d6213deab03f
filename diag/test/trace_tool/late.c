/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - a program whose waits are known, and whose trace starts when they
 * have begun. diag/test/trace_tool/late_start.py says what must be in it.
 *
 *	late FILE WORKERS EVENTS WAITERS LAPS
 *
 * WAITERS fibers wait for each of: an event, a semaphore, a channel. With LAPS
 * 0 the trace starts then, with rings of EVENTS; otherwise it has recorded from
 * the begin, and other fibers then yield so often that the rings go round. Then
 * half of each kind is woken, which ends. The rest waits until the trace is
 * written. */
#include <sennit.h>
#include <sennit/trace.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uintptr_t         waiters;
static sennit_event     *events; /* one for each waiter */
static sennit_semaphore  permits;
static sennit_channel    numbers;
static sennit_wait_group all, woken;

static void require(int error)
{
	if (!error)
		return;
	fprintf(stderr, "late: error %d\n", error);
	exit(1);
}

static void on_event(void *number)
{
	uintptr_t i = (uintptr_t)number;

	sennit_task_set_name("customer");
	require(sennit_event_wait(&events[i]));
	if (i % 2)
		sennit_wait_group_done(&woken);
	sennit_wait_group_done(&all);
}

static void on_semaphore(void *unused)
{
	(void)unused;
	require(sennit_semaphore_acquire(&permits, 1));
	sennit_wait_group_done(&woken);
	sennit_wait_group_done(&all);
}

static void on_channel(void *unused)
{
	uintptr_t number;

	(void)unused;
	require(sennit_channel_receive(&numbers, &number));
	sennit_wait_group_done(&woken);
	sennit_wait_group_done(&all);
}

static void turn(void *laps)
{
	for (uintptr_t i = 0; i < (uintptr_t)laps; i++)
		sennit_yield();
	sennit_wait_group_done(&woken);
}

static void wake_half(void *unused)
{
	(void)unused;
	for (uintptr_t i = 1; i < waiters; i += 2) {
		uintptr_t number = i;

		sennit_event_set(&events[i]);
		sennit_semaphore_release(&permits, 1);
		require(sennit_channel_send(&numbers, &number));
	}
	sennit_wait_group_done(&woken);
}

static void wake_rest(void)
{
	for (uintptr_t i = 0; i < waiters; i += 2) {
		uintptr_t number = i;

		sennit_event_set(&events[i]);
		sennit_semaphore_release(&permits, 1);
		require(sennit_channel_send(&numbers, &number));
	}
}

/* Blocked fibers that the program has made. */
static void count(void *context, const sennit_report_entry *e)
{
	*(uintptr_t *)context += e->state == SENNIT_REPORT_BLOCKED && e->task;
}

static void wait_for(sennit_scheduler *s, uintptr_t blocked)
{
	uintptr_t now = 0;

	while (now != blocked) {
		now = 0;
		sennit_report_visit(s, count, &now);
		usleep(1000);
	}
}

static void schedule(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run, .argument = argument };

	require(sennit_schedule_task_on(s, &t));
}

static void schedule_waiters(sennit_scheduler *s)
{
	for (uintptr_t i = 0; i < waiters; i++) {
		sennit_event_init(&events[i], SENNIT_EVENT_MANUAL);
		schedule(s, on_event, (void *)i);
		schedule(s, on_semaphore, NULL);
		schedule(s, on_channel, NULL);
	}
	wait_for(s, 3 * waiters);
}

static void name_all(void)
{
	require(sennit_function_set_name(on_event, "on_event"));
	require(sennit_function_set_name(on_semaphore, "on_semaphore"));
	require(sennit_function_set_name(on_channel, "on_channel"));
	require(sennit_function_set_name(turn, "turn"));
	require(sennit_function_set_name(wake_half, "wake_half"));
}

int main(int argc, char **argv)
{
	sennit_config        config = { .size = sizeof(config) };
	sennit_trace_options options = { .size = sizeof(options) };
	sennit_scheduler    *s;
	uintptr_t            laps;
	int                  fd;

	if (argc != 6)
		return 2;
	fd = open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600);
	config.workers = (uint32_t)atoi(argv[2]);
	options.events = (uint32_t)atoi(argv[3]);
	waiters = (uintptr_t)atoi(argv[4]);
	laps = (uintptr_t)atoi(argv[5]);
	if (fd < 0)
		return 2;
	if (laps)
		config.trace_events = options.events;
	events = calloc(waiters, sizeof(*events));
	name_all();
	require(sennit_channel_init(&numbers, 0, sizeof(uintptr_t), NULL));
	sennit_semaphore_init(&permits, 0);
	sennit_wait_group_init(&all, (uint32_t)(3 * waiters));
	sennit_wait_group_init(&woken, 1 + 3 * (uint32_t)(waiters / 2));
	require(sennit_scheduler_create(&s, &config));
	schedule_waiters(s);
	if (!laps)
		require(sennit_trace_start(s, &options));
	for (uint32_t i = 0; laps && i < 4; i++) {
		sennit_wait_group_add(&woken, 1);
		schedule(s, turn, (void *)laps);
	}
	schedule(s, wake_half, NULL);
	sennit_wait_group_wait(&woken);
	/* Their ends, too. */
	wait_for(s, 3 * (waiters - waiters / 2));
	require(sennit_trace_write(s, fd));
	require(sennit_thread_bind(s));
	/* All but the events' count again. */
	sennit_wait_group_add(&woken, 2 * (uint32_t)(waiters - waiters / 2));
	wake_rest();
	sennit_wait_group_wait(&woken);
	sennit_wait_group_wait(&all);
	sennit_thread_unbind();
	require(sennit_scheduler_shutdown(s, SENNIT_NEVER));
	free(events);
	return close(fd) ? 1 : 0;
}
