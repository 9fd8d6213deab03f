/* SPDX-License-Identifier: Apache-2.0 */
/* bursts.c - tasks that wait at the same time become fibers of all workers, in
 * every order, whether all wait or every third. The bound is P8 in
 * core/docs/design/scheduling.md. */
#include "explore.h"

enum { WORKERS = 4, TASKS = 24, EACH = TASKS / WORKERS, MOST_EVERY = 3 };

/* For tasks sent one at a time: a worker's own tasks, plus the tasks of others
 * that it began before its inbox reached SHARE_PILE. This bound holds in every
 * order. */
#define MOST_SENT (EACH + EACH / 2 + 4)

/* A batch lies with one worker, which deals it out to idle workers. In some
 * orders no worker is idle while it begins tasks. So this percentage of orders
 * may exceed the bound. But every worker gets some tasks. */
enum { STRAYS_PERCENT = 5 };

struct burst {
	bool              spread, from_task, from_outside, at_once;
	bool              strict;
	unsigned          every; /* every so many-th task waits; the others end
				  * at once. 0: all wait */
	unsigned          orders, strays; /* results */
	unsigned          begun[WORKERS]; /* per worker */
	sennit_event      open;
	sennit_wait_group waiting, done;
};

static struct burst          *burst; /* the current burst */
static _Thread_local uint32_t my_worker;
static uint32_t               threads; /* that have begun */

static void note_worker(void *unused, uint32_t index)
{
	my_worker = index;
	__atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
}

/* A worker whose thread has not begun gets nothing. */
static void await_threads(void)
{
	while (__atomic_load_n(&threads, __ATOMIC_RELAXED) < WORKERS)
		sn_deterministic_point();
}

static void wait_at_once(void *unused)
{
	struct burst *b = burst;

	__atomic_add_fetch(&b->begun[my_worker], 1, __ATOMIC_RELAXED);
	sennit_wait_group_done(&b->waiting);
	REQUIRE(!sennit_event_wait(&b->open));
	sennit_wait_group_done(&b->done);
}

static void end_at_once(void *unused)
{
}

static void send_all(void *scheduler)
{
	const unsigned every = burst->every ? burst->every : 1;
	const unsigned count = TASKS * every;
	sennit_task    tasks[TASKS * MOST_EVERY] = { { .run = NULL } };

	for (unsigned i = 0; i < count; i++)
		tasks[i].run = (i + 1) % every ? end_at_once : wait_at_once;
	if (burst->at_once) {
		REQUIRE(!sennit_schedule_many_on(scheduler, tasks, count));
		return;
	}
	for (unsigned i = 0; i < count; i++)
		REQUIRE(!sennit_schedule_task_on(scheduler, &tasks[i]));
}

static void send_from(struct burst *b, sennit_scheduler *s)
{
	if (b->from_outside)
		sennit_thread_unbind();
	if (b->from_task) {
		const sennit_task t = { .run = send_all, .argument = s };

		REQUIRE(!sennit_schedule_task_on(s, &t));
	} else {
		send_all(s);
	}
	if (b->from_outside)
		REQUIRE(!sennit_thread_bind(s));
}

static void check(struct burst *b)
{
	unsigned most = 0;

	for (unsigned i = 0; i < WORKERS; i++) {
		REQUIRE(b->begun[i] || b->every);
		if (b->begun[i] > most)
			most = b->begun[i];
	}
	REQUIRE(!b->strict || most <= MOST_SENT);
	b->orders++;
	b->strays += most > MOST_SENT;
}

static void burst_out(void *context)
{
	struct burst     *b = context;
	sennit_scheduler *s;

	burst = b;
	memset(b->begun, 0, sizeof(b->begun));
	threads = 0;
	s = begin_with(
		SENNIT_CONFIG(.workers = WORKERS, .thread_init = note_worker,
			      .placement = b->spread
						   ? SENNIT_PLACEMENT_SPREAD
						   : SENNIT_PLACEMENT_DEFAULT));
	await_threads();
	sennit_event_init(&b->open, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&b->waiting, TASKS);
	sennit_wait_group_init(&b->done, TASKS);
	send_from(b, s);
	sennit_wait_group_wait(&b->waiting);
	check(b);
	sennit_event_set(&b->open);
	sennit_wait_group_wait(&b->done);
	end(s);
}

static void expect_spread(struct burst b)
{
	explore_some(burst_out, &b, SCHEDULES / 10);
	assert_in_range(b.strays, 0, 1 + b.orders * STRAYS_PERCENT / 100);
}

/* Run with tasks placed locally, and with SPREAD; then so that every third
 * waits. */
static void expect_both_spread(struct burst b)
{
	struct burst mixed = b;

	mixed.every = 3;
	mixed.strict = false;
	expect_spread(mixed);
	mixed.spread = true;
	expect_spread(mixed);
	expect_spread(b);
	b.spread = true;
	b.strict = true;
	expect_spread(b);
}

TEST(bursts_of_a_bound_thread_spread_over_workers)
{
	expect_both_spread((struct burst){ .strict = true });
}

TEST(bursts_from_outside_spread_over_workers)
{
	expect_both_spread(
		(struct burst){ .strict = true, .from_outside = true });
}

TEST(bursts_of_a_task_spread_over_workers)
{
	expect_both_spread((struct burst){ .from_task = true });
}

TEST(batches_from_outside_spread_over_workers)
{
	expect_both_spread(
		(struct burst){ .from_outside = true, .at_once = true });
}

TEST(batches_of_a_task_spread_over_workers)
{
	expect_both_spread(
		(struct burst){ .from_task = true, .at_once = true });
}
