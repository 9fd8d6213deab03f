/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - one event, any of eight and all of eight: set and waited for by one
 * fiber; handed over between two workers; and what it takes until n that wait
 * have run. */
#include "harness.h"

#define EVENTS 8
#define MANY   10000

static sennit_event  events[2][EVENTS];
static sennit_event *lists[2][EVENTS];

static void prepare(enum sennit_event_mode mode)
{
	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; i < EVENTS; i++) {
			sennit_event_init(&events[side][i], mode, false);
			lists[side][i] = &events[side][i];
		}
}

static void set_all(unsigned side)
{
	for (unsigned i = 0; i < EVENTS; i++)
		sennit_event_set(&events[side][i]);
}

/* --- one fiber, which finds them set ------------------------------------- */

static void one_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	prepare(SENNIT_EVENT_AUTO);
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_event_set(&events[0][0]);
		sennit_event_wait(&events[0][0]);
	}
	bench_elapsed(r, begin);
}

static void any_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    sum = 0;

	prepare(SENNIT_EVENT_AUTO);
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_event_set(&events[0][EVENTS - 1]);
		sum += sennit_event_wait_any(lists[0], EVENTS);
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
		sennit_event_wait_all(lists[0], EVENTS);
	}
	bench_elapsed(r, begin);
}

/* --- two workers --------------------------------------------------------- */

static void play_any(unsigned side, uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++) {
		if (!side)
			sennit_event_set(&events[1][i % EVENTS]);
		(void)sennit_event_wait_any(lists[side], EVENTS);
		if (side)
			sennit_event_set(&events[0][i % EVENTS]);
	}
}

static void play_all(unsigned side, uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++) {
		if (!side)
			set_all(1);
		sennit_event_wait_all(lists[side], EVENTS);
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
	(void)sennit_event_wait_any(lists[0], EVENTS);
}

static void wait_all(void *unused)
{
	(void)unused;
	sennit_event_wait_all(lists[0], EVENTS);
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
	{ .run = NULL },
};
