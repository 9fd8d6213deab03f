/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - one event, any of eight and all of eight: set and waited for by one
 * fiber; passed between two workers; and the time until n waiters have
 * continued, also when they belong to all workers in turn. */
#include "harness.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define EVENTS 8
#define MANY   10000

static sennit_event  events[2][EVENTS];
static sennit_event *lists[2][EVENTS];

static void prepare(enum sennit_event_mode mode)
{
	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; i < EVENTS; i++) {
			sennit_event_init(&events[side][i], mode);
			lists[side][i] = &events[side][i];
		}
}

static void set_all(unsigned side)
{
	for (unsigned i = 0; i < EVENTS; i++)
		sennit_event_set(&events[side][i]);
}

/* --- one fiber, which finds the events set ------------------------------- */

static void one_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	prepare(SENNIT_EVENT_AUTO);
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_event_set(&events[0][0]);
		(void)!sennit_event_wait(&events[0][0]);
	}
	bench_elapsed(r, begin);
}

static void any_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    sum = 0;
	size_t      which;

	prepare(SENNIT_EVENT_AUTO);
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_event_set(&events[0][EVENTS - 1]);
		if (!sennit_event_wait_any(lists[0], EVENTS, &which))
			sum += which;
	}
	bench_elapsed(r, begin);
	bench_check(sum == r->n * (EVENTS - 1), "event: the wrong one");
}

static void all_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	prepare(SENNIT_EVENT_AUTO);
	for (uint64_t i = 0; i < r->n; i++) {
		set_all(0);
		(void)!sennit_event_wait_all(lists[0], EVENTS);
	}
	bench_elapsed(r, begin);
}

/* --- two workers --------------------------------------------------------- */

static void play_any(unsigned side, uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++) {
		if (!side)
			sennit_event_set(&events[1][i % EVENTS]);
		(void)!sennit_event_wait_any(lists[side], EVENTS, NULL);
		if (side)
			sennit_event_set(&events[0][i % EVENTS]);
	}
}

static void play_all(unsigned side, uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++) {
		if (!side)
			set_all(1);
		(void)!sennit_event_wait_all(lists[side], EVENTS);
		if (side)
			set_all(0);
	}
}

static void any_across(struct bench_run *r)
{
	prepare(SENNIT_EVENT_AUTO);
	bench_pair(r, play_any);
}

static void all_across(struct bench_run *r)
{
	prepare(SENNIT_EVENT_AUTO);
	bench_pair(r, play_all);
}

/* --- many ---------------------------------------------------------------- */

static void wait_any(void *unused)
{
	(void)unused;
	(void)!sennit_event_wait_any(lists[0], EVENTS, NULL);
}

static void wait_all(void *unused)
{
	(void)unused;
	(void)!sennit_event_wait_all(lists[0], EVENTS);
}

static void set_last(void *unused)
{
	(void)unused;
	sennit_event_set(&events[0][EVENTS - 1]);
}

static void any_of_many(struct bench_run *r)
{
	prepare(SENNIT_EVENT_MANUAL);
	bench_release(r, wait_any, set_last, NULL);
}

static void all_of_many(struct bench_run *r)
{
	prepare(SENNIT_EVENT_MANUAL);
	for (unsigned i = 0; i + 1 < EVENTS; i++)
		sennit_event_set(&events[0][i]);
	bench_release(r, wait_all, set_last, NULL);
}

/* --- many, of all workers in turn ----------------------------------------- */

static struct {
	unsigned          sides;
	atomic_uint       present;
	atomic_uint       waiting;
	sennit_wait_group ready;
	sennit_wait_group left;
} turns;

static void wait_in_turn(void *here)
{
	*(bool *)here = true;
	(void)!sennit_event_wait(&events[0][0]);
	sennit_wait_group_done(&turns.left);
}

/* Returns when a fiber of this thread waits: it has arrived, and the caller
 * runs again. */
static void have_one_wait(void)
{
	bool here = false;

	spawn_here(wait_in_turn, &here);
	while (!here)
		sennit_yield();
}

/* A task that has not blocked keeps its thread. So as many tasks that spin
 * until all are there run on as many threads. */
static void have_some_wait(void *unused)
{
	const unsigned me = turns.present++;

	(void)unused;
	while (turns.present < turns.sides)
		sched_yield();
	for (unsigned i = me; i < MANY; i += turns.sides) {
		while (turns.waiting < i)
			sched_yield();
		have_one_wait();
		turns.waiting++;
	}
	sennit_wait_group_done(&turns.ready);
}

/* CPU time of this thread. */
static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

/* value[1]: the share of the setting thread. */
static void release_by_turns(struct bench_run *r)
{
	sennit_scheduler *s = bench_scheduler(r->workers);
	const sennit_task side = { .run = have_some_wait };
	sennit_time       begin;
	uint64_t          cpu;

	prepare(SENNIT_EVENT_MANUAL);
	turns.sides = r->workers;
	turns.present = 0;
	turns.waiting = 0;
	sennit_wait_group_init(&turns.ready, turns.sides);
	sennit_wait_group_init(&turns.left, MANY);
	for (unsigned i = 0; i < turns.sides; i++)
		bench_check(!sennit_schedule_task_on(s, &side),
			    "event: no task");
	sennit_wait_group_wait(&turns.ready);
	begin = sennit_now();
	cpu = own_cpu_ns();
	sennit_event_set(&events[0][0]);
	cpu = own_cpu_ns() - cpu;
	sennit_wait_group_wait(&turns.left);
	bench_elapsed(r, begin);
	r->value[1] = (double)cpu / (double)r->n;
}

const struct bench_row bench_event[] = {
	BENCH_ROW("event/uncontended", 10000000, BENCH_TWO, one_alone),
	BENCH_ROW("event/any-of-8-uncontended", 1000000, BENCH_TWO, any_alone),
	BENCH_ROW("event/any-of-8-two-workers", 100000, BENCH_FROM_TWO,
		  any_across),
	BENCH_ROW("event/any-of-8-release-many", MANY, BENCH_EACH, any_of_many),
	BENCH_ROW("event/all-of-8-uncontended", 1000000, BENCH_TWO, all_alone),
	BENCH_ROW("event/all-of-8-two-workers", 100000, BENCH_FROM_TWO,
		  all_across),
	BENCH_ROW("event/all-of-8-release-many", MANY, BENCH_EACH, all_of_many),
	{ .names = { "event/release-by-turns", "event/release-by-turns-cpu" },
	  .n = MANY,
	  .workers = BENCH_FROM_TWO,
	  .place = BENCH_OUTSIDE,
	  .run = release_by_turns },
	{ .run = NULL },
};
