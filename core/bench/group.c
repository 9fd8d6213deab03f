/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups: members spawned one by one and all at once, and a cancel
 * that ends many waits. */
#include "harness.h"

#include <errno.h>
#include <stdatomic.h>

static int do_nothing(void *argument)
{
	(void)argument;
	return 0;
}

static void must_spawn(sennit_group *g, sennit_member_fn *run, void *argument)
{
	bench_check(!sennit_group_spawn(g, run, argument), "no member");
}

/* One group per member. */
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

/* One group for all members. */
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

/* Two members pass a token back and forth, with waits that may be cancelled or
 * waits that may not. */
struct players {
	sennit_event turn[2];
	uint64_t     rounds;
	bool         timed;
};

static void take_turn(struct players *p, int me)
{
	if (!p->timed)
		(void)!sennit_event_wait(&p->turn[me]);
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

	sennit_event_init(&p.turn[0], SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	sennit_event_init(&p.turn[1], SENNIT_EVENT_AUTO);
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

/* Many such pairs at once: the cost of the fact that all cancellable waits in a
 * tree of groups share its root. */
#define PAIRS 64

static struct {
	struct {
		_Alignas(128) struct players players;
	} pairs[PAIRS];
	sennit_group      tree;
	sennit_wait_group left; /* for the separate pairs */
	unsigned          workers;
	atomic_uint       present;
	bool              apart;
} hall;

static void prepare_pairs(struct bench_run *r, bool timed)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		struct players *p = &hall.pairs[i].players;

		p->rounds = r->n / PAIRS / 2;
		p->timed = timed;
		sennit_event_init(&p->turn[0],
				  SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
		sennit_event_init(&p->turn[1], SENNIT_EVENT_AUTO);
	}
}

static int play_pair(void *pair)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	must_spawn(&g, play_first, pair);
	must_spawn(&g, play_second, pair);
	return sennit_group_wait(&g);
}

static void play_apart(void *pair)
{
	bench_check(!play_pair(pair), "a member failed");
	sennit_wait_group_done(&hall.left);
}

/* One per worker; all spin until all are there. Then each starts its share of
 * the pairs, which stay where they began. */
static int open_tables(void *unused)
{
	unsigned first = hall.present++;

	(void)unused;
	while (hall.present < hall.workers)
		continue;
	for (unsigned i = first; i < PAIRS; i += hall.workers)
		if (hall.apart)
			spawn(play_apart, &hall.pairs[i].players);
		else
			must_spawn(&hall.tree, play_pair,
				   &hall.pairs[i].players);
	return 0;
}

static void play_all(struct bench_run *r, bool timed, bool apart)
{
	sennit_time begin = sennit_now();

	prepare_pairs(r, timed);
	hall.present = 0;
	hall.workers = r->workers;
	hall.apart = apart;
	sennit_wait_group_init(&hall.left, apart ? PAIRS : 0);
	sennit_group_init(&hall.tree, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (unsigned i = 0; i < r->workers; i++)
		must_spawn(&hall.tree, open_tables, NULL);
	bench_check(!sennit_group_wait(&hall.tree), "a member failed");
	sennit_wait_group_wait(&hall.left);
	bench_elapsed(r, begin);
}

static void pairs_cancellable(struct bench_run *r)
{
	play_all(r, true, false);
}

static void pairs_uncancelled(struct bench_run *r)
{
	play_all(r, false, false);
}

/* Each pair is a separate tree. */
static void pairs_apart(struct bench_run *r)
{
	play_all(r, true, true);
}

const struct bench_row bench_group[] = {
	BENCH_ROW("group/one-by-one", 1000000, BENCH_EACH, one_by_one),
	BENCH_ROW("group/flat", 1000000, BENCH_EACH, flat),
	BENCH_ROW("group/cancel-waits", 10000, BENCH_EACH, cancel),
	BENCH_ROW("group/switch-cancellable", 1000000, BENCH_EACH,
		  play_cancellable),
	BENCH_ROW("group/switch-uncancelled", 1000000, BENCH_EACH,
		  play_uncancelled),
	BENCH_ROW("group/64-pairs-cancellable", PAIRS * 20000, BENCH_EACH,
		  pairs_cancellable),
	BENCH_ROW("group/64-pairs-cancellable-apart", PAIRS * 20000, BENCH_EACH,
		  pairs_apart),
	BENCH_ROW("group/64-pairs-uncancelled", PAIRS * 20000, BENCH_EACH,
		  pairs_uncancelled),
	{ .run = NULL },
};
