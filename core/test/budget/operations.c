/* SPDX-License-Identifier: Apache-2.0 */
/* operations.c - operations NAME COUNT: executes one operation COUNT times, in
 * a task of a scheduler with one worker. run.sh counts the instructions of two
 * runs and divides their difference by the difference of the counts. So startup
 * and shutdown cancel out.
 */
#include "sennit.h"
#include "sennit/trace.h"
#include "sennit/domain.h"
#include "sennit/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Every count is a multiple of this: the number of calls of fib(15) with an
 * argument of 2 or more. */
#define BATCH 986

/* The library's time is virtual, so that the load of the machine does not
 * change a count: each look at the clock takes about what a program takes
 * between two looks. */
#define LOOK_NS 500

static _Atomic(uint64_t) time_ns = SENNIT_SECOND;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = atomic_fetch_add(&time_ns, LOOK_NS);

	(void)clock;
	t->tv_sec = (time_t)(ns / SENNIT_SECOND);
	t->tv_nsec = (long)(ns % SENNIT_SECOND);
	return 0;
}

static uint64_t          count;
static sennit_wait_group left, asleep;
static sennit_event      ping, pong;
static sennit_time       deadline;

static void spawn(sennit_task_fn *run, void *argument)
{
	if (sennit_schedule(run, argument))
		abort();
}

/* --- spawn: schedule an empty task and run it ----------------------------- */

static void nothing(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&left);
}

static void spawn_and_run(void)
{
	for (uint64_t done = 0; done < count; done += BATCH) {
		sennit_wait_group_init(&left, BATCH);
		for (unsigned i = 0; i < BATCH; i++)
			spawn(nothing, NULL);
		sennit_wait_group_wait(&left);
	}
}

/* --- domain, member: the same in a domain or a group; group: of one ------- */

static sennit_event ended;

static void note_end(void *event)
{
	sennit_event_set(event);
}

static void empty(void *unused)
{
	(void)unused;
}

static void spawn_batch(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < BATCH; i++)
		spawn(empty, NULL);
}

static void run_in_domains(void)
{
	sennit_domain *d;

	sennit_event_init(&ended, SENNIT_EVENT_AUTO);
	for (uint64_t done = 0; done < count; done += BATCH) {
		if (sennit_domain_create(&d, sennit_scheduler_current(),
					 note_end, &ended) ||
		    sennit_domain_schedule(d, spawn_batch, NULL))
			abort();
		sennit_domain_release(d);
		(void)!sennit_event_wait(&ended);
	}
}

static int empty_member(void *unused)
{
	(void)unused;
	return 0;
}

static void run_in_groups(void)
{
	sennit_group g;

	for (uint64_t done = 0; done < count; done += BATCH) {
		sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
		for (unsigned i = 0; i < BATCH; i++)
			if (sennit_group_spawn(&g, empty_member, NULL))
				abort();
		if (sennit_group_wait(&g))
			abort();
	}
}

static void open_groups(void)
{
	for (uint64_t i = 0; i < count; i++) {
		sennit_group g;

		sennit_group_init(&g, SENNIT_NEVER, 0);
		if (sennit_group_spawn(&g, empty_member, NULL) ||
		    sennit_group_wait(&g))
			abort();
	}
}

/* --- fork-join: schedule one half, compute the other, wait ---------------- */

#include "../../bench/wait_group_fib.h"

static void fork_join(void)
{
	for (uint64_t done = 0; done < count; done += BATCH)
		if (fib(15) != 610)
			abort();
}

/* --- fork-join-tied: the same, with the half tied to its wait group ------- */

static void fork_join_tied(void)
{
	for (uint64_t done = 0; done < count; done += BATCH)
		if (tied_fib(15) != 610)
			abort();
}

/* --- block-wake-*: two fibers pass a token --------------------------- */

static void wait_for(sennit_event *e)
{
	if (deadline == SENNIT_NEVER)
		(void)!sennit_event_wait(e);
	else if (sennit_event_wait_until(e, deadline))
		abort();
}

static void play_ping(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < count / 2; i++) {
		sennit_event_set(&pong);
		wait_for(&ping);
	}
	sennit_wait_group_done(&left);
}

static void play_pong(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < count / 2; i++) {
		wait_for(&pong);
		sennit_event_set(&ping);
	}
	sennit_wait_group_done(&left);
}

static void hand_over(void)
{
	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	sennit_event_init(&pong, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&left, 2);
	spawn(play_ping, NULL);
	spawn(play_pong, NULL);
	sennit_wait_group_wait(&left);
}

static void block_and_wake(void)
{
	deadline = SENNIT_NEVER;
	hand_over();
}

static void block_and_wake_in_time(void)
{
	deadline = sennit_after(3600 * SENNIT_SECOND);
	hand_over();
}

/* As members of a group, which enlist each wait with it. */
static int play_as_member(void *play)
{
	((sennit_task_fn *)(uintptr_t)play)(NULL);
	return 0;
}

static void block_and_wake_in_a_group(void)
{
	sennit_group g;

	deadline = SENNIT_NEVER;
	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	sennit_event_init(&pong, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&left, 2);
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	if (sennit_group_spawn(&g, play_as_member,
			       (void *)(uintptr_t)play_ping) ||
	    sennit_group_spawn(&g, play_as_member,
			       (void *)(uintptr_t)play_pong) ||
	    sennit_group_wait(&g))
		abort();
}

/* --- sleep: spawn a task that sleeps, and wake it at its deadline --------- */

static void sleep_once(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&asleep);
	if (sennit_sleep_until(deadline))
		abort();
	sennit_wait_group_done(&left);
}

/* All are due at once. */
static void sleep_and_wake(void)
{
	for (uint64_t done = 0; done < count; done += BATCH) {
		deadline = sennit_after(50 * SENNIT_MILLISECOND);
		sennit_wait_group_init(&asleep, BATCH);
		sennit_wait_group_init(&left, BATCH);
		for (unsigned i = 0; i < BATCH; i++)
			spawn(sleep_once, NULL);
		sennit_wait_group_wait(&asleep);
		atomic_fetch_add(&time_ns, 50 * SENNIT_MILLISECOND);
		sennit_wait_group_wait(&left);
	}
}

/* --- mutex, event: without contention ------------------------------------- */

static void lock_and_unlock(void)
{
	static sennit_mutex mutex;

	for (uint64_t i = 0; i < count; i++) {
		sennit_mutex_lock(&mutex);
		sennit_mutex_unlock(&mutex);
	}
}

static void set_and_wait(void)
{
	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	for (uint64_t i = 0; i < count; i++) {
		sennit_event_set(&ping);
		(void)!sennit_event_wait(&ping);
	}
}

/* --- bind: by a thread that is no worker, to a scheduler without workers -- */

static void *bind_and_unbind(void *scheduler)
{
	for (uint64_t i = 0; i < count; i++) {
		if (sennit_thread_bind(scheduler))
			abort();
		sennit_thread_unbind();
	}
	return NULL;
}

static void bind_elsewhere(void)
{
	sennit_scheduler *s;
	pthread_t         thread;

	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)))
		abort();
	if (pthread_create(&thread, NULL, bind_and_unbind, s))
		abort();
	pthread_join(thread, NULL);
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		abort();
}

/* --- span, *-recorded: what events cost --------------------------------- */

static void begin_and_end(void)
{
	for (uint64_t i = 0; i < count; i++) {
		sennit_trace_begin("span");
		sennit_trace_end();
	}
}

static void record(void)
{
	if (sennit_trace_start(sennit_scheduler_current(), NULL))
		abort();
}

static void begin_and_end_recorded(void)
{
	record();
	begin_and_end();
}

static void spawn_and_run_recorded(void)
{
	record();
	spawn_and_run();
}

static void block_and_wake_recorded(void)
{
	record();
	block_and_wake();
}

/* --- *-sampled: what histograms cost at the recommended rate ------------- */

static void spawn_and_run_sampled(void)
{
	sennit_metrics_record(sennit_scheduler_current(),
			      SENNIT_METRICS_SAMPLED);
	spawn_and_run();
}

static void block_and_wake_sampled(void)
{
	sennit_metrics_record(sennit_scheduler_current(),
			      SENNIT_METRICS_SAMPLED);
	block_and_wake();
}

/* ------------------------------------------------------------------------ */

static const struct operation {
	const char *name;
	void (*run)(void);
} operations[] = {
	{ "spawn", spawn_and_run },
	{ "domain", run_in_domains },
	{ "member", run_in_groups },
	{ "group", open_groups },
	{ "fork-join", fork_join },
	{ "fork-join-tied", fork_join_tied },
	{ "block-wake", block_and_wake },
	{ "block-wake-in-time", block_and_wake_in_time },
	{ "block-wake-member", block_and_wake_in_a_group },
	{ "sleep", sleep_and_wake },
	{ "mutex", lock_and_unlock },
	{ "event", set_and_wait },
	{ "bind", bind_elsewhere },
	{ "span", begin_and_end },
	{ "span-recorded", begin_and_end_recorded },
	{ "spawn-recorded", spawn_and_run_recorded },
	{ "block-wake-recorded", block_and_wake_recorded },
	{ "spawn-sampled", spawn_and_run_sampled },
	{ "block-wake-sampled", block_and_wake_sampled },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static void root(void *argument)
{
	const struct operation *o = argument;

	o->run();
}

static int run(const struct operation *o)
{
	sennit_scheduler *s;
	sennit_task task = { .run = root, .argument = (void *)(intptr_t)o };

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_schedule_task_on(s, &task) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	count = argc == 3 ? strtoull(argv[2], NULL, 10) : 1;
	if (argc != 3 || count % BATCH) {
		fprintf(stderr, "usage: operations NAME MULTIPLE-OF-%d\n",
			BATCH);
		return 2;
	}
	for (size_t i = 0; i < OPERATIONS; i++)
		if (!strcmp(operations[i].name, argv[1]))
			return run(&operations[i]);
	fprintf(stderr, "operations: no operation %s\n", argv[1]);
	return 2;
}
