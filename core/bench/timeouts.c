/* SPDX-License-Identifier: Apache-2.0 */
/* timeouts.c - what a deadline adds to a wait while a million others are armed.
 * Two fibers of one worker pass a token back and forth, without deadlines and
 * with deadlines that never pass, while a million fibers sleep until deadlines
 * of their own. The difference is one arm and cancel, as a program of the
 * library pays for it. timer_wheel.c measures these alone.
 */
#include "harness.h"

#define SLEEPERS 1000000
#define RALLIES  500000
#define TURNS    10 /* of both kinds, in the row of the difference */

static sennit_event      ping;
static sennit_event      pong;
static sennit_event      never;
static sennit_wait_group players;
static sennit_wait_group asleep;
static sennit_time       deadline;
static unsigned          rallies;

static void wait_for(sennit_event *e)
{
	if (sennit_event_wait_until(e, deadline))
		abort();
}

static void play_ping(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < rallies; i++) {
		sennit_event_set(&pong);
		wait_for(&ping);
	}
	sennit_wait_group_done(&players);
}

static void play_pong(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < rallies; i++) {
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

static sennit_time play(unsigned count, sennit_time until)
{
	static bool are_asleep;
	sennit_time begin;

	if (!are_asleep)
		put_to_sleep(SLEEPERS);
	are_asleep = true;
	deadline = until;
	rallies = count;
	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	sennit_event_init(&pong, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&players, 2);
	begin = sennit_now();
	spawn_here(play_ping, NULL);
	spawn_here(play_pong, NULL);
	sennit_wait_group_wait(&players);
	return sennit_now() - begin;
}

static sennit_time play_without(unsigned count)
{
	return play(count, SENNIT_NEVER);
}

static sennit_time play_with(unsigned count)
{
	return play(count, sennit_after(600 * SENNIT_SECOND));
}

static void without(struct bench_run *r)
{
	r->value[0] = (double)play_without(RALLIES) / (double)r->n;
}

static void with(struct bench_run *r)
{
	r->value[0] = (double)play_with(RALLIES) / (double)r->n;
}

/* By turns, so that what changes the machine's speed changes both. */
static void difference(struct bench_run *r)
{
	double more = 0;

	for (unsigned i = 0; i < TURNS; i++) {
		more -= (double)play_without(RALLIES / TURNS);
		more += (double)play_with(RALLIES / TURNS);
	}
	r->value[0] = more / (double)r->n;
}

/* clang-format off */
#define ROW(name, function)                                                \
	{ .names = { "W13-timeout/" name },                                 \
	  .n = UINT64_C(2) * RALLIES, .workers = BENCH_EACH,                \
	  .place = BENCH_INSIDE, .run = (function),                         \
	  .memory = SLEEPERS * UINT64_C(8192) }
/* clang-format on */

const struct bench_row bench_timeouts[] = {
	ROW("switch-without-deadline", without),
	ROW("switch-with-deadline", with),
	ROW("difference", difference),
	{ .run = NULL },
};
