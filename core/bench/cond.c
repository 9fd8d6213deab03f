/* SPDX-License-Identifier: Apache-2.0 */
/* cond.c - conditions on data under a mutex, with condition variables and with
 * notifies of the fiber itself: without a waiter; two workers pass a turn back
 * and forth; n fibers wait and are released. */
#include "harness.h"

#define MANY 10000

static struct {
	_Alignas(128) sennit_mutex lock;
	sennit_cond   changed;
	sennit_fiber *players[2];    /* under lock */
	unsigned      turn;          /* under lock */
	bool          is_open;       /* under lock */
	unsigned      waiting;       /* under lock */
	sennit_fiber *waiters[MANY]; /* under lock */
} table;

static bool is_open(void *unused)
{
	(void)unused;
	return table.is_open;
}

static bool is_my_turn(void *side)
{
	return table.turn == *(unsigned *)side;
}

static void clear(void)
{
	sennit_cond_init(&table.changed);
	table.turn = 0;
	table.players[0] = table.players[1] = NULL;
	table.is_open = false;
	table.waiting = 0;
}

/* --- condition variable -------------------------------------------------- */

/* Change the data and notify. */
static void notify_nobody(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	clear();
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_mutex_lock(&table.lock);
		table.turn++;
		sennit_mutex_unlock(&table.lock);
		sennit_cond_notify_one(&table.changed);
	}
	bench_elapsed(r, begin);
}

static void play_by_cond(unsigned side, uint64_t turns)
{
	sennit_mutex_lock(&table.lock);
	for (uint64_t i = 0; i < turns; i++) {
		(void)!sennit_cond_wait_until_true(&table.changed, &table.lock,
						   is_my_turn, &side,
						   SENNIT_NEVER);
		table.turn = !side;
		sennit_cond_notify_one(&table.changed);
	}
	sennit_mutex_unlock(&table.lock);
}

static void cond_across(struct bench_run *r)
{
	clear();
	bench_pair(r, play_by_cond);
}

static void wait_for_opening(void *unused)
{
	sennit_mutex_lock(&table.lock);
	(void)!sennit_cond_wait_until_true(&table.changed, &table.lock, is_open,
					   unused, SENNIT_NEVER);
	sennit_mutex_unlock(&table.lock);
}

static void open(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&table.lock);
	table.is_open = true;
	sennit_mutex_unlock(&table.lock);
	sennit_cond_notify_all(&table.changed);
}

static void cond_many(struct bench_run *r)
{
	clear();
	bench_release(r, wait_for_opening, open, NULL);
}

/* --- notify -------------------------------------------------------------- */

static void notify_oneself(struct bench_run *r)
{
	sennit_fiber *self = sennit_fiber_current();
	sennit_time   begin = sennit_now();

	clear();
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_mutex_lock(&table.lock);
		table.turn++;
		sennit_mutex_unlock(&table.lock);
		sennit_fiber_notify(self);
	}
	bench_elapsed(r, begin);
}

static void play_by_notify(unsigned side, uint64_t turns)
{
	sennit_mutex_lock(&table.lock);
	table.players[side] = sennit_fiber_current();
	for (uint64_t i = 0; i < turns; i++) {
		(void)!sennit_fiber_wait(&table.lock, is_my_turn, &side,
					 SENNIT_NEVER);
		table.turn = !side;
		if (table.players[!side])
			sennit_fiber_notify(table.players[!side]);
	}
	sennit_mutex_unlock(&table.lock);
}

static void notify_across(struct bench_run *r)
{
	clear();
	bench_pair(r, play_by_notify);
}

static void wait_to_be_notified(void *unused)
{
	sennit_mutex_lock(&table.lock);
	table.waiters[table.waiting++] = sennit_fiber_current();
	(void)!sennit_fiber_wait(&table.lock, is_open, unused, SENNIT_NEVER);
	sennit_mutex_unlock(&table.lock);
}

/* A fiber that does not wait yet will find it open. */
static void notify_each(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&table.lock);
	table.is_open = true;
	for (unsigned i = 0; i < table.waiting; i++)
		sennit_fiber_notify(table.waiters[i]);
	sennit_mutex_unlock(&table.lock);
}

static void notify_many(struct bench_run *r)
{
	clear();
	bench_release(r, wait_to_be_notified, notify_each, NULL);
}

const struct bench_row bench_cond[] = {
	BENCH_ROW("cond/notify-nobody", 10000000, BENCH_TWO, notify_nobody),
	BENCH_ROW("cond/two-workers", 100000, BENCH_FROM_TWO, cond_across),
	BENCH_ROW("cond/release-many", MANY, BENCH_EACH, cond_many),
	BENCH_ROW("fiber/notify-running", 10000000, BENCH_TWO, notify_oneself),
	BENCH_ROW("fiber/notify-two-workers", 100000, BENCH_FROM_TWO,
		  notify_across),
	BENCH_ROW("fiber/notify-many", MANY, BENCH_EACH, notify_many),
	{ .run = NULL },
};
