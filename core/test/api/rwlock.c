/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - a reader-writer lock that is free, read or written. */
#include "testing/crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(a_free_lock_is_taken_at_once)
{
	sennit_rwlock l = SENNIT_RWLOCK_INIT;
	sennit_rwlock zero;

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

/* --- readers together ----------------------------------------------------- */

struct meeting {
	sennit_rwlock lock;
	atomic_uint   readers;
	unsigned      together; /* that must be inside at once */
};

static void meet_inside(void *argument)
{
	struct meeting *m = argument;

	sennit_rwlock_lock_shared(&m->lock);
	atomic_fetch_add(&m->readers, 1);
	EXPECT_SOON(atomic_load(&m->readers) == m->together);
	sennit_rwlock_unlock_shared(&m->lock);
}

TEST_WITH_WORKERS(readers_are_in_together)
{
	struct meeting m = { .together = 12 };
	struct crowd   c = { .s = w->s,
			     .run = meet_inside,
			     .argument = &m,
			     .tasks = 8,
			     .bound = 2,
			     .unbound = 2 };

	gather(&c);
	disperse(&c);
	sennit_rwlock_destroy(&m.lock);
}

TEST_WITH_WORKERS(a_writer_lets_all_readers_in_together)
{
	struct meeting m = { .together = 12 };
	struct crowd   c = { .s = w->s,
			     .run = meet_inside,
			     .argument = &m,
			     .tasks = 8,
			     .bound = 2,
			     .unbound = 2 };

	sennit_rwlock_lock(&m.lock);
	gather(&c);
	assert_soon(waiting_for(w->s, &m.lock) == 10);
	assert_int_equal(said_to_be(w->s, &m.lock), SENNIT_WAITS_FOR_RWLOCK);
	assert_int_equal(atomic_load(&m.readers), 0);
	sennit_rwlock_unlock(&m.lock);
	disperse(&c);
	sennit_rwlock_destroy(&m.lock);
}
