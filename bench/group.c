/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups: members spawned one by one and all at once, and a cancel
 * that ends many waits. */
#include "harness.h"

#include <errno.h>

static int do_nothing(void *argument)
{
	(void)argument;
	return 0;
}

static void must_spawn(sennit_group *g, sennit_member_fn *run, void *argument)
{
	bench_check(!sennit_group_spawn(g, run, argument), "no member");
}

/* A group for each member. */
static void one_by_one(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_group g;

		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, do_nothing, NULL);
		bench_check(!sennit_group_wait(&g), "a member failed");
	}
	bench_elapsed(r, begin);
}

/* One group for all. */
static void flat(struct bench_run *r)
{
	sennit_time  begin = sennit_now();
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uint64_t i = 0; i < r->n; i++)
		must_spawn(&g, do_nothing, NULL);
	bench_check(!sennit_group_wait(&g), "a member failed");
	bench_elapsed(r, begin);
}

static int wait_for_ever(void *waiting)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	sennit_wait_group_done(waiting);
	return sennit_event_wait_until(&never, SENNIT_NEVER);
}

/* From the cancel to the end of the last member. */
static void cancel(struct bench_run *r)
{
	sennit_wait_group waiting;
	sennit_group      g;
	sennit_time       begin;

	sennit_wait_group_init(&waiting, (uint32_t)r->n);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uint64_t i = 0; i < r->n; i++)
		must_spawn(&g, wait_for_ever, &waiting);
	sennit_wait_group_wait(&waiting);
	begin = sennit_now();
	sennit_group_cancel(&g);
	bench_check(sennit_group_wait(&g) == -ECANCELED, "not cancelled");
	bench_elapsed(r, begin);
}

/* Two members hand a turn to and fro, by waits that may be cancelled or by
 * waits that may not. */
struct players {
	sennit_event turn[2];
	uint64_t     rounds;
	bool         timed;
};

static void take_turn(struct players *p, int me)
{
	if (!p->timed)
		sennit_event_wait(&p->turn[me]);
	else if (sennit_event_wait_until(&p->turn[me], SENNIT_NEVER))
		abort();
	sennit_event_set(&p->turn[!me]);
}

static int play_first(void *argument)
{
	struct players *p = argument;

	for (uint64_t i = 0; i < p->rounds; i++)
		take_turn(p, 0);
	return 0;
}

static int play_second(void *argument)
{
	struct players *p = argument;

	for (uint64_t i = 0; i < p->rounds; i++)
		take_turn(p, 1);
	return 0;
}

static void play(struct bench_run *r, bool timed)
{
	struct players p = { .rounds = r->n / 2, .timed = timed };
	sennit_time    begin;
	sennit_group   g;

	sennit_event_init(&p.turn[0], SENNIT_EVENT_AUTO, true);
	sennit_event_init(&p.turn[1], SENNIT_EVENT_AUTO, false);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	begin = sennit_now();
	must_spawn(&g, play_first, &p);
	must_spawn(&g, play_second, &p);
	bench_check(!sennit_group_wait(&g), "a member failed");
	bench_elapsed(r, begin);
}

static void play_cancellable(struct bench_run *r)
{
	play(r, true);
}

static void play_uncancelled(struct bench_run *r)
{
	play(r, false);
}

const struct bench_row bench_group[] = {
	{ .names = { "group/one-by-one" },
	  .n = 1000000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = one_by_one },
	{ .names = { "group/flat" },
	  .n = 1000000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = flat },
	{ .names = { "group/cancel-waits" },
	  .n = 10000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = cancel },
	{ .names = { "group/hand-over-cancellable" },
	  .n = 1000000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = play_cancellable },
	{ .names = { "group/hand-over-uncancelled" },
	  .n = 1000000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = play_uncancelled },
	{ .run = NULL },
};
