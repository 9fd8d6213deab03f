/* SPDX-License-Identifier: Apache-2.0 */
/* ping_pong.c - two fibers pass one token back and forth. Each waits on an
 * auto-reset event of its own. They run on one worker, or on two that stay
 * awake.
 */
#include "harness.h"

#include <stdatomic.h>

/* One game at a time. Each event has a cache line of its own. */
static struct {
	_Alignas(128) sennit_event ping;
	_Alignas(128) sennit_event pong;
	_Alignas(128) sennit_wait_group players;
	uint64_t    rallies;
	atomic_uint present;
} table;

static void play_ping(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < table.rallies; i++) {
		sennit_event_set(&table.pong);
		(void)!sennit_event_wait(&table.ping);
	}
	sennit_wait_group_done(&table.players);
}

static void play_pong(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < table.rallies; i++) {
		(void)!sennit_event_wait(&table.pong);
		sennit_event_set(&table.ping);
	}
	sennit_wait_group_done(&table.players);
}

/* Both players run the same code. A fiber returns from its wait to its own call
 * site. If the previous fiber called from another site, the processor's return
 * predictor, which expects calls to return in order, mispredicts. */
static void play_alike(void *argument)
{
	sennit_event *mine = argument;
	sennit_event *other = mine == &table.ping ? &table.pong : &table.ping;

	for (uint64_t i = 0; i < table.rallies; i++) {
		(void)!sennit_event_wait(mine);
		sennit_event_set(other);
	}
	sennit_wait_group_done(&table.players);
}

static void prepare(uint64_t switches)
{
	sennit_event_init(&table.ping, SENNIT_EVENT_AUTO);
	sennit_event_init(&table.pong, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&table.players, 2);
	table.rallies = switches / 2;
	table.present = 0;
}

static void one_worker(struct bench_run *r)
{
	sennit_time begin;

	prepare(r->n);
	begin = sennit_now();
	spawn_here(play_ping, NULL);
	spawn_here(play_pong, NULL);
	sennit_wait_group_wait(&table.players);
	bench_elapsed(r, begin);
}

static void one_worker_alike(struct bench_run *r)
{
	sennit_time begin;

	prepare(r->n);
	begin = sennit_now();
	spawn_here(play_alike, &table.ping);
	spawn_here(play_alike, &table.pong);
	sennit_event_set(&table.ping);
	sennit_wait_group_wait(&table.players);
	bench_elapsed(r, begin);
}

/* A task that has not blocked keeps its thread. So two tasks that spin until
 * both are there run on two threads, and a fiber stays where it started. */
static void meet(void)
{
	table.present++;
	while (table.present < 2)
		continue;
}

static void meet_and_ping(void *argument)
{
	sennit_time *begin = argument;

	meet();
	*begin = sennit_now();
	play_ping(NULL);
}

static void meet_and_pong(void *unused)
{
	meet();
	play_pong(unused);
}

static void two_workers(struct bench_run *r)
{
	sennit_time begin;

	prepare(r->n);
	spawn(meet_and_ping, &begin);
	spawn(meet_and_pong, NULL);
	sennit_wait_group_wait(&table.players);
	bench_elapsed(r, begin);
}

const struct bench_row bench_ping_pong[] = {
	BENCH_ROW("W4a-ping-pong/one-worker", 2000000, BENCH_EACH, one_worker),
	BENCH_ROW("W4a-ping-pong/one-worker-alike", 2000000, BENCH_EACH,
		  one_worker_alike),
	{ .names = { "W4a-ping-pong/one-worker-shared-fp" },
	  .n = 2000000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .fp = SENNIT_FP_SHARED,
	  .run = one_worker },
	BENCH_ROW("W4b-ping-pong/two-workers", 400000, BENCH_FROM_TWO,
		  two_workers),
	{ .run = NULL },
};
