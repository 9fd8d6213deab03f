/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - many readers or one writer; deadlines. */
#include "crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

static void try_alone(void *argument)
{
	sennit_rwlock l = SENNIT_RWLOCK_INIT;
	sennit_rwlock zero;

	(void)argument;
	sennit_rwlock_lock(&l);
	sennit_rwlock_unlock(&l);
	EXPECT(sennit_rwlock_lock_until(&l, 0) == 0);
	sennit_rwlock_unlock(&l);
	EXPECT(sennit_rwlock_lock_until(&l, 1) == 0);
	sennit_rwlock_unlock(&l);
	sennit_rwlock_lock_shared(&l);
	EXPECT(sennit_rwlock_lock_shared_until(&l, 0) == 0);
	EXPECT(sennit_rwlock_lock_shared_until(&l, 1) == 0);
	EXPECT(sennit_rwlock_lock_until(&l, 0) == -ETIMEDOUT);
	sennit_rwlock_unlock_shared(&l);
	sennit_rwlock_unlock_shared(&l);
	EXPECT(sennit_rwlock_lock_until(&l, 1) == -ETIMEDOUT);
	sennit_rwlock_unlock_shared(&l);
	EXPECT(sennit_rwlock_lock_until(&l, SENNIT_NEVER) == 0);
	sennit_rwlock_unlock(&l);
	sennit_rwlock_destroy(&l);
	memset(&zero, 0, sizeof(zero));
	sennit_rwlock_lock(&zero);
	sennit_rwlock_unlock(&zero);
	sennit_rwlock_init(&zero);
	sennit_rwlock_lock_shared(&zero);
	sennit_rwlock_unlock_shared(&zero);
}

TEST_WITH_WORKERS(a_free_lock_is_taken_at_once)
{
	in_each_place(try_alone, NULL);
}

static void find_it_written(void *argument)
{
	sennit_rwlock    *l = argument;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	EXPECT(sennit_rwlock_lock_until(l, 0) == -ETIMEDOUT);
	EXPECT(sennit_rwlock_lock_shared_until(l, 0) == -ETIMEDOUT);
	EXPECT(sennit_rwlock_lock_shared_until(l, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_rwlock_lock_until(l, soon) == -ETIMEDOUT);
}

static void find_it_read(void *argument)
{
	sennit_rwlock    *l = argument;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	EXPECT(sennit_rwlock_lock_shared_until(l, 0) == 0);
	EXPECT(sennit_rwlock_lock_until(l, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_rwlock_lock_until(l, soon) == -ETIMEDOUT);
	EXPECT(sennit_rwlock_lock_shared_until(l, soon) == 0);
	sennit_rwlock_unlock_shared(l);
	sennit_rwlock_unlock_shared(l);
}

TEST_WITH_WORKERS(waiting_for_a_held_one_times_out)
{
	sennit_rwlock l = SENNIT_RWLOCK_INIT;

	sennit_rwlock_lock(&l);
	in_a_task(find_it_written, &l);
	in_a_thread(find_it_written, &l);
	sennit_rwlock_unlock(&l);
	sennit_rwlock_lock_shared(&l);
	in_each_place(find_it_read, &l);
	sennit_rwlock_unlock_shared(&l);
	sennit_rwlock_destroy(&l); /* fails if there is a waiter */
}

/* --- exclusion ---------------------------------------------------------- */

struct ledger {
	sennit_rwlock lock;
	atomic_uint   next;
	atomic_uint   readers;
	atomic_uint   missed;
	unsigned      rounds;
	unsigned      together;  /* number of readers that must be inside
				  * together */
	unsigned      sum, copy; /* under lock: always equal */
};

static void book(struct ledger *l, bool linger)
{
	EXPECT(atomic_load(&l->readers) == 0);
	l->sum++;
	if (linger)
		sennit_yield();
	l->copy++;
	sennit_rwlock_unlock(&l->lock);
}

static void audit(struct ledger *l, bool linger)
{
	atomic_fetch_add(&l->readers, 1);
	EXPECT(l->sum == l->copy);
	if (linger)
		sennit_yield();
	EXPECT(l->sum == l->copy);
	atomic_fetch_sub(&l->readers, 1);
	sennit_rwlock_unlock_shared(&l->lock);
}

static void keep_books(void *argument)
{
	struct ledger *l = argument;
	const unsigned me = atomic_fetch_add(&l->next, 1);
	unsigned       i;

	for (i = 0; i < l->rounds; i++) {
		const bool        linger = (me + i) % 8 == 0;
		const sennit_time t = (me + i) % 3 ? SENNIT_NEVER
						   : sennit_after(1000 * i);

		if ((me + i) % 4 == 0) {
			if (sennit_rwlock_lock_until(&l->lock, t))
				atomic_fetch_add(&l->missed, 1);
			else
				book(l, linger);
		} else if (!sennit_rwlock_lock_shared_until(&l->lock, t)) {
			audit(l, linger);
		}
	}
}

TEST_WITH_WORKERS(nobody_else_is_in_while_one_writes)
{
	struct ledger l = { .rounds = 200 };
	struct crowd  c = { .s = w->s,
			    .run = keep_books,
			    .argument = &l,
			    .tasks = 20,
			    .bound = 2,
			    .unbound = 2 };

	gather(&c);
	disperse(&c);
	assert_int_equal(l.sum + atomic_load(&l.missed), 24 * 50);
	assert_int_equal(l.sum, l.copy);
	sennit_rwlock_destroy(&l.lock);
}

static void meet_inside(void *argument)
{
	struct ledger *l = argument;

	sennit_rwlock_lock_shared(&l->lock);
	atomic_fetch_add(&l->readers, 1);
	EXPECT_SOON(atomic_load(&l->readers) == l->together);
	sennit_rwlock_unlock_shared(&l->lock);
}

TEST_WITH_WORKERS(readers_are_in_together)
{
	struct ledger l = { .together = 12 };
	struct crowd  c = { .s = w->s,
			    .run = meet_inside,
			    .argument = &l,
			    .tasks = 8,
			    .bound = 2,
			    .unbound = 2 };

	gather(&c);
	disperse(&c);
	sennit_rwlock_destroy(&l.lock);
}

TEST_WITH_WORKERS(a_writer_lets_all_readers_in_together)
{
	struct ledger l = { .together = 12 };
	struct crowd  c = { .s = w->s,
			    .run = meet_inside,
			    .argument = &l,
			    .tasks = 8,
			    .bound = 2,
			    .unbound = 2 };

	sennit_rwlock_lock(&l.lock);
	gather(&c);
	assert_soon(waiting_for(w->s, &l.lock) == 10);
	assert_int_equal(said_to_be(w->s, &l.lock), SENNIT_WAITS_FOR_RWLOCK);
	assert_int_equal(atomic_load(&l.readers), 0);
	sennit_rwlock_unlock(&l.lock);
	disperse(&c);
	sennit_rwlock_destroy(&l.lock);
}

static void hold_while_sleeping(void *argument)
{
	struct ledger *l = argument;

	sennit_rwlock_lock(&l->lock);
	sennit_sleep(100 * SENNIT_MICROSECOND);
	l->sum++;
	sennit_rwlock_unlock(&l->lock);
	sennit_rwlock_lock_shared(&l->lock);
	sennit_sleep(100 * SENNIT_MICROSECOND);
	sennit_rwlock_unlock_shared(&l->lock);
}

/* Symptom: with one worker, a lock held across a wait blocked the worker. */
TEST_WITH_WORKERS(it_may_be_held_across_a_wait)
{
	struct ledger l = { .sum = 0 };
	struct crowd  c = { .s = w->s,
			    .run = hold_while_sleeping,
			    .argument = &l,
			    .tasks = 20 };

	gather(&c);
	disperse(&c);
	assert_int_equal(l.sum, 20);
}
