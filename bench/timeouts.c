/* SPDX-License-Identifier: Apache-2.0 */
/* timeouts.c - what a deadline adds to a wait while a million others are armed.
 * Two fibers of one worker pass a token back and forth, without deadlines and
 * with deadlines that never pass, while a million fibers sleep until deadlines
 * of their own. The difference is one arm and cancel. timer_wheel.c measures
 * these alone.
 */
#include "harness.h"

#define SLEEPERS 1000000
#define RALLIES  500000

static sennit_event      ping;
static sennit_event      pong;
static sennit_event      never;
static sennit_wait_group players;
static sennit_wait_group asleep;
static sennit_time       deadline;

static void wait_for(sennit_event *e)
{
	if (sennit_event_wait_until(e, deadline))
		abort();
}

static void play_ping(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < RALLIES; i++) {
		sennit_event_set(&pong);
		wait_for(&ping);
	}
	sennit_wait_group_done(&players);
}

static void play_pong(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < RALLIES; i++) {
		wait_for(&pong);
		sennit_event_set(&ping);
	}
	sennit_wait_group_done(&players);
}

/* Deadlines from one to two hours ahead; none passes. */
static void sleep_long(void *argument)
{
	uint64_t millisecond = (uint64_t)(uintptr_t)argument * 36 / 10;
	uint64_t wait = 3600 * SENNIT_SECOND + millisecond * SENNIT_MILLISECOND;

	sennit_wait_group_done(&asleep);
	if (!sennit_event_wait_until(&never, sennit_after(wait)))
		abort();
}

static void put_to_sleep(uintptr_t sleepers)
{
	sennit_wait_group_init(&asleep, (uint32_t)sleepers);
	for (uintptr_t i = 0; i < sleepers; i++)
		spawn_here(sleep_long, (void *)i);
	sennit_wait_group_wait(&asleep);
}

static void play(struct bench_run *r)
{
	static bool are_asleep;
	sennit_time begin;

	if (!are_asleep)
		put_to_sleep(SLEEPERS);
	are_asleep = true;
	sennit_event_init(&ping, SENNIT_EVENT_AUTO, false);
	sennit_event_init(&pong, SENNIT_EVENT_AUTO, false);
	sennit_wait_group_init(&players, 2);
	begin = sennit_now();
	spawn_here(play_ping, NULL);
	spawn_here(play_pong, NULL);
	sennit_wait_group_wait(&players);
	bench_elapsed(r, begin);
}

static void play_without(struct bench_run *r)
{
	deadline = SENNIT_NEVER;
	play(r);
}

static void play_with(struct bench_run *r)
{
	deadline = sennit_after(600 * SENNIT_SECOND);
	play(r);
}

const struct bench_row bench_timeouts[] = {
	{ .names = { "W13-timeout/switch-without-deadline" },
	  .n = UINT64_C(2) * RALLIES,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = play_without,
	  .memory = SLEEPERS * UINT64_C(8192) },
	{ .names = { "W13-timeout/switch-with-deadline" },
	  .n = UINT64_C(2) * RALLIES,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = play_with,
	  .memory = SLEEPERS * UINT64_C(8192) },
	{ .run = NULL },
};
