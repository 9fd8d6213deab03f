/* SPDX-License-Identifier: Apache-2.0 */
/* planted.c - programs with a bug that appears in few orders: exploring finds
 * it and prints the seed, and that seed alone reproduces it. */
#include "explore.h"
#include "sennit/deterministic.h"

/* --- two locks, taken in both orders ------------------------------------- */

static struct {
	sennit_mutex      a, b;
	sennit_wait_group done;
} pair;

static void take_both(sennit_mutex *one, sennit_mutex *other)
{
	sennit_mutex_lock(one);
	sennit_mutex_lock(other);
	sennit_mutex_unlock(other);
	sennit_mutex_unlock(one);
	sennit_wait_group_done(&pair.done);
}

static void a_then_b(void *unused)
{
	take_both(&pair.a, &pair.b);
}

static void b_then_a(void *unused)
{
	take_both(&pair.b, &pair.a);
}

static void both_orders(void *second)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	sennit_mutex_init(&pair.a);
	sennit_mutex_init(&pair.b);
	sennit_wait_group_init(&pair.done, 2);
	spawn(a_then_b, NULL);
	spawn(second ? b_then_a : a_then_b, NULL);
	sennit_wait_group_wait(&pair.done);
	end(s);
}

/* --- a lock that stays locked, with waiters ------------------------------ */

enum { QUEUE = 4 };

static struct {
	sennit_mutex      lock;
	sennit_wait_group done;
} shut;

static void have_it(void *unused)
{
	sennit_mutex_lock(&shut.lock);
	sennit_mutex_unlock(&shut.lock);
	sennit_wait_group_done(&shut.done);
}

/* Waiters of several workers poll the lock, but not for ever. */
static void never_unlocked(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	sennit_mutex_init(&shut.lock);
	sennit_wait_group_init(&shut.done, QUEUE);
	sennit_mutex_lock(&shut.lock);
	for (unsigned i = 0; i < QUEUE; i++)
		spawn(have_it, NULL);
	sennit_wait_group_wait(&shut.done);
	end(s);
}

/* --- a count that is read first and written later ------------------------ */

static struct {
	unsigned          count;
	sennit_wait_group done;
} tally;

static void count_one(void *unused)
{
	unsigned seen = tally.count;

	sennit_explore_point();
	tally.count = seen + 1;
	sennit_wait_group_done(&tally.done);
}

static void lost_update(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	tally.count = 0;
	sennit_wait_group_init(&tally.done, 2);
	spawn(count_one, NULL);
	spawn(count_one, NULL);
	sennit_wait_group_wait(&tally.done);
	REQUIRE(tally.count == 2);
	end(s);
}

/* --- a timeout that is treated as success -------------------------------- */

static struct {
	sennit_event      ready;
	int               value;
	sennit_wait_group done;
} late;

static void make_ready(void *unused)
{
	sennit_sleep(50 * SENNIT_MICROSECOND);
	late.value = 1;
	sennit_event_set(&late.ready);
	sennit_wait_group_done(&late.done);
}

static void hasty(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 1));

	late.value = 0;
	sennit_event_init(&late.ready, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&late.done, 1);
	spawn(make_ready, NULL);
	(void)!sennit_event_wait_until(&late.ready,
				       sennit_after(100 * SENNIT_MICROSECOND));
	REQUIRE(late.value);
	sennit_wait_group_wait(&late.done);
	end(s);
}

/* --- cases --------------------------------------------------------------- */

TEST(locks_in_both_orders_deadlock)
{
	static int second;

	assert_found(both_orders, &second, "deadlock: every thread waits");
	assert_found(both_orders, &second, "waits for mutex");
}

TEST(a_queue_that_looks_is_a_deadlock_too)
{
	assert_found(never_unlocked, NULL, "deadlock: every thread waits");
}

TEST(locks_in_one_order_do_not)
{
	assert_false(
		explore_in_child(both_orders, NULL, 1, ENOUGH / 10).aborted);
}

TEST(an_update_is_lost)
{
	assert_found(lost_update, NULL, "not so: tally.count == 2");
}

TEST(a_timeout_comes_first)
{
	assert_found(hasty, NULL, "not so: late.value");
}
