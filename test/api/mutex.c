/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - mutual exclusion for fibers and threads; deadlines; locks held
 * across a wait. */
#include "with_workers.h"

#include <errno.h>

static void try_alone(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	sennit_mutex zero;

	(void)argument;
	sennit_mutex_lock(&m);
	sennit_mutex_unlock(&m);
	EXPECT(sennit_mutex_lock_until(&m, 0) == 0);
	sennit_mutex_unlock(&m);
	EXPECT(sennit_mutex_lock_until(&m, 1) == 0);
	sennit_mutex_unlock(&m);
	EXPECT(sennit_mutex_lock_until(&m, SENNIT_NEVER) == 0);
	sennit_mutex_unlock(&m);
	sennit_mutex_destroy(&m);
	memset(&zero, 0, sizeof(zero));
	sennit_mutex_lock(&zero);
	sennit_mutex_unlock(&zero);
	sennit_mutex_init(&zero);
	sennit_mutex_lock(&zero);
	sennit_mutex_unlock(&zero);
}

TEST_WITH_WORKERS(a_free_mutex_is_taken_at_once)
{
	in_each_place(try_alone, NULL);
}

static void find_it_held(void *argument)
{
	sennit_mutex     *m = argument;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	EXPECT(sennit_mutex_lock_until(m, 0) == -ETIMEDOUT);
	EXPECT(sennit_mutex_lock_until(m, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_mutex_lock_until(m, soon) == -ETIMEDOUT);
}

static void lock_and_unlock(void *argument)
{
	sennit_mutex_lock(argument);
	sennit_mutex_unlock(argument);
}

TEST_WITH_WORKERS(waiting_for_a_held_one_times_out)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	sennit_mutex_lock(&m);
	in_a_task(find_it_held, &m);
	in_a_thread(find_it_held, &m);
	sennit_mutex_unlock(&m);
	in_each_place(lock_and_unlock, &m);
	sennit_mutex_destroy(&m); /* fails if there is a waiter */
}

/* --- exclusion ---------------------------------------------------------- */

struct ledger {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          rounds; /* per task */
	unsigned          sum;    /* under lock */
	unsigned          inside; /* under lock */
	atomic_uint       missed;
};

static void book(struct ledger *l, bool linger)
{
	EXPECT(l->inside++ == 0);
	l->sum++;
	if (linger)
		sennit_yield();
	EXPECT(--l->inside == 0);
}

static void book_often(void *argument)
{
	struct ledger *l = argument;
	unsigned       i;

	for (i = 0; i < l->rounds; i++) {
		sennit_mutex_lock(&l->lock);
		book(l, i % 16 == 0);
		sennit_mutex_unlock(&l->lock);
	}
	sennit_wait_group_done(&l->done);
}

static void book_if_in_time(void *argument)
{
	struct ledger *l = argument;
	unsigned       i;

	for (i = 0; i < l->rounds; i++) {
		const sennit_time t = i % 2 ? sennit_after(1000 * i) : 0;

		if (sennit_mutex_lock_until(&l->lock, t)) {
			atomic_fetch_add(&l->missed, 1);
			continue;
		}
		book(l, i % 16 == 0);
		sennit_mutex_unlock(&l->lock);
	}
	sennit_wait_group_done(&l->done);
}

static void *book_often_as_thread(void *argument)
{
	book_often(argument);
	return NULL;
}

static void *book_if_in_time_as_thread(void *argument)
{
	book_if_in_time(argument);
	return NULL;
}

TEST_WITH_WORKERS(one_holds_it_at_a_time)
{
	struct ledger l = { .rounds = 300 };
	pthread_t     threads[4];
	unsigned      i;

	sennit_wait_group_init(&l.done, 45);
	for (i = 0; i < 2; i++) {
		threads[i] = must_start_thread(book_often_as_thread, &l);
		threads[i + 2] = must_start_thread(book_if_in_time_as_thread,
						   &l);
	}
	for (i = 0; i < 20; i++) {
		must_schedule(book_often, &l);
		must_schedule(book_if_in_time, &l);
	}
	book_often(&l);
	sennit_wait_group_wait(&l.done);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(l.sum + atomic_load(&l.missed), 45 * 300);
	sennit_mutex_destroy(&l.lock);
}

/* --- held across a wait ------------------------------------------------- */

static void hold_while_sleeping(void *argument)
{
	struct ledger *l = argument;

	sennit_mutex_lock(&l->lock);
	EXPECT(l->inside++ == 0);
	sennit_sleep(100 * SENNIT_MICROSECOND);
	l->sum++;
	EXPECT(--l->inside == 0);
	sennit_mutex_unlock(&l->lock);
	sennit_wait_group_done(&l->done);
}

/* Symptom: with one worker, a lock held across a wait blocked the worker. */
TEST_WITH_WORKERS(it_may_be_held_across_a_wait)
{
	struct ledger l = { .rounds = 0 };
	unsigned      i;

	sennit_wait_group_init(&l.done, 50);
	for (i = 0; i < 50; i++)
		must_schedule(hold_while_sleeping, &l);
	sennit_wait_group_wait(&l.done);
	assert_int_equal(l.sum, 50);
}
