/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_vs_signal.c - members wait for a token, a lock and each other, while
 * signals, deadlines and cancels end their waits at the same time. No token may
 * be lost, and no waiter may stay asleep. */
#include "testing/with_workers.h"
#include "testing/random.h"
#include "deadlines.h"

#include <errno.h>

enum { MEMBERS = 12 };

/* A token that is passed on, and a bounded queue of numbers. */
struct market {
	struct world     *w;
	sennit_event      turn; /* auto: the member that has it owns `turns` */
	uint64_t          turns;
	atomic_ulong      all_turns;
	sennit_mutex      lock;
	sennit_cond       changed;
	unsigned          stock;  /* under lock */
	sennit_wait_group closed; /* never done while members run */
	atomic_uint       streams;
	sennit_group      g;
};

static int take_turn(struct market *m, sennit_time t, uint64_t *random)
{
	int err = sennit_event_wait_until(&m->turn, t);

	if (err)
		return err;
	m->turns++;
	atomic_fetch_add(&m->all_turns, 1);
	if (!random_below(random, 4))
		sennit_yield();
	sennit_event_set(&m->turn);
	return 0;
}

static int trade(struct market *m, sennit_time t, uint64_t *random)
{
	int err = sennit_mutex_lock_until(&m->lock, t);

	if (err)
		return err;
	if (random_below(random, 2)) {
		m->stock++;
		sennit_cond_notify_one(&m->changed);
	} else {
		while (!err && !m->stock)
			err = sennit_cond_wait_until(&m->changed, &m->lock, t);
		if (m->stock)
			m->stock--;
	}
	sennit_mutex_unlock(&m->lock);
	return err;
}

static int act(struct market *m, uint64_t *random)
{
	const sennit_time t = soon_or_never(random);

	switch (random_below(random, 4)) {
	case 0:
		return take_turn(m, t, random);
	case 1:
		return trade(m, t, random);
	case 2:
		return t == SENNIT_NEVER ? 0 : sennit_sleep_until(t);
	default:
		return sennit_wait_group_wait_until(&m->closed, t);
	}
}

/* Wait for different objects until cancelled. */
static int visit(void *argument)
{
	struct market *m = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&m->streams, 1));
	int            err;

	do {
		err = act(m, &random);
		EXPECT(!err || err == -ETIMEDOUT || err == -ECANCELED);
	} while (err != -ECANCELED);
	return err;
}

static int visit_in_a_group(void *argument)
{
	struct market *m = argument;
	sennit_group   g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 3; i++)
		if (sennit_group_spawn(&g, visit, m))
			break;
	return sennit_group_wait(&g);
}

/* As a member it knows that the group has not ended. */
static int cancel_later(void *argument)
{
	struct market *m = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&m->streams, 1));

	sennit_sleep(random_below(&random, 200) * SENNIT_MICROSECOND);
	if (random_below(&random, 2))
		return -EIO;
	sennit_group_cancel(&m->g);
	return 0;
}

static void cancel_from_outside(void *argument)
{
	struct market *m = argument;

	sennit_group_cancel(&m->g);
}

static int ask_a_thread(void *argument)
{
	in_a_thread(cancel_from_outside, argument);
	return 0;
}

static void hold_market(struct market *m, uint64_t *random)
{
	sennit_member_fn *end = random_below(random, 8) ? cancel_later
							: ask_a_thread;

	sennit_group_init_on(&m->g, m->w->s, SENNIT_NEVER, 0);
	for (int i = 0; i < MEMBERS; i++)
		EXPECT(sennit_group_spawn(&m->g,
					  i % 4 ? visit : visit_in_a_group,
					  m) == 0);
	EXPECT(sennit_group_spawn(&m->g, end, m) == 0);
	if (random_below(random, 4) == 0)
		(void)!sennit_group_spawn(&m->g, cancel_later, m);
	EXPECT(sennit_group_wait(&m->g) < 0);
	EXPECT(sennit_event_is_set(&m->turn));
	EXPECT(m->turns == atomic_load(&m->all_turns));
	EXPECT(sennit_mutex_lock_until(&m->lock, 0) == 0);
	sennit_mutex_unlock(&m->lock);
	sennit_mutex_destroy(&m->lock);
	sennit_event_destroy(&m->turn);
	sennit_cond_destroy(&m->changed);
	sennit_wait_group_destroy(&m->closed);
}

TEST_WITH_WORKERS(nothing_is_lost_and_nobody_sleeps_on)
{
	struct market m = { .w = w };
	uint64_t      random = random_stream(1000000);

	sennit_event_init(&m.turn, SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	sennit_wait_group_init(&m.closed, 1);
	for (unsigned i = 0; i < scaled(LOAD(1000)); i++)
		hold_market(&m, &random);
}
