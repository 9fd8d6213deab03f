/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_sync.c - a waiter for a rwlock, semaphore, barrier or once whose group
 * is cancelled leaves, and does not block those behind it. */
#include "crowd.h"

#include <errno.h>

struct scene {
	struct world    *w;
	sennit_group     group; /* a member of it cancels it */
	sennit_rwlock    lock;
	sennit_semaphore semaphore;
	sennit_barrier   barrier;
	sennit_once      once;
	sennit_event     go_on;
	atomic_uint      through;
};

/* --- members, which are cancelled --------------------------------------- */

static int read_it(void *argument)
{
	struct scene *c = argument;

	return sennit_rwlock_lock_shared_until(&c->lock, SENNIT_NEVER);
}

static int write_it(void *argument)
{
	struct scene *c = argument;

	return sennit_rwlock_lock_until(&c->lock, SENNIT_NEVER);
}

static int take_four(void *argument)
{
	struct scene *c = argument;

	return sennit_semaphore_take_until(&c->semaphore, 4, SENNIT_NEVER);
}

static int arrive(void *argument)
{
	struct scene *c = argument;

	return sennit_barrier_wait_until(&c->barrier, SENNIT_NEVER);
}

static int must_not_run(void *argument)
{
	(void)argument;
	EXPECT(false);
	return 0;
}

static int attempt(void *argument)
{
	struct scene *c = argument;

	return sennit_once_attempt_until(&c->once, must_not_run, NULL,
					 SENNIT_NEVER);
}

/* --- others, which are not ---------------------------------------------- */

static void read_too(void *argument)
{
	struct scene *c = argument;

	sennit_rwlock_lock_shared(&c->lock);
	atomic_fetch_add(&c->through, 1);
	sennit_rwlock_unlock_shared(&c->lock);
}

static void take_one(void *argument)
{
	struct scene *c = argument;

	EXPECT(!sennit_semaphore_take(&c->semaphore, 1));
	atomic_fetch_add(&c->through, 1);
}

static void arrive_too(void *argument)
{
	struct scene *c = argument;

	(void)sennit_barrier_wait(&c->barrier);
	atomic_fetch_add(&c->through, 1);
}

static void do_slowly(void *argument)
{
	struct scene *c = argument;

	EXPECT(!sennit_event_wait(&c->go_on));
	atomic_fetch_add(&c->through, 1);
}

static void do_once(void *argument)
{
	struct scene *c = argument;

	sennit_once_call(&c->once, do_slowly, c);
}

/* A member waits for the object, then, if `other` is given, another waiter
 * behind it. `before` is the number of earlier waiters. Then the group is
 * cancelled. */
static void cancel_it(struct scene *c, sennit_member_fn *member,
		      const void *object, unsigned before, struct crowd *behind)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, member, c), 0);
	assert_soon(waiting_for(c->w->s, object) == before + 1);
	if (behind) {
		gather(behind);
		assert_soon(waiting_for(c->w->s, object) == before + 2);
	}
	assert_true(sennit_group_cancel(&g));
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

/* --- claims ------------------------------------------------------------- */

TEST_WITH_WORKERS(a_writer_lets_readers_go)
{
	struct scene c = { .w = w };
	struct crowd reader = { .run = read_too, .argument = &c, .tasks = 1 };

	sennit_rwlock_lock_shared(&c.lock);
	cancel_it(&c, write_it, &c.lock, 0, &reader);
	disperse(&reader); /* this thread still holds it */
	assert_int_equal(atomic_load(&c.through), 1);
	sennit_rwlock_unlock_shared(&c.lock);
	sennit_rwlock_destroy(&c.lock);
}

TEST_WITH_WORKERS(a_reader_leaves)
{
	struct scene c = { .w = w };

	sennit_rwlock_lock(&c.lock);
	cancel_it(&c, read_it, &c.lock, 0, NULL);
	sennit_rwlock_unlock(&c.lock);
	sennit_rwlock_destroy(&c.lock);
}

TEST_WITH_WORKERS(a_large_take_lets_small_ones_go)
{
	struct scene c = { .w = w };
	struct crowd taker = { .run = take_one, .argument = &c, .tasks = 1 };

	sennit_semaphore_init(&c.semaphore, 3);
	cancel_it(&c, take_four, &c.semaphore, 0, &taker);
	disperse(&taker);
	assert_int_equal(sennit_semaphore_count(&c.semaphore), 2);
}

TEST_WITH_WORKERS(an_arrival_is_taken_back)
{
	struct scene c = { .w = w };
	struct crowd party = { .run = arrive_too, .argument = &c, .tasks = 1 };

	sennit_barrier_init(&c.barrier, 3);
	cancel_it(&c, arrive, &c.barrier, 0, &party);
	assert_int_equal(sennit_barrier_wait_until(&c.barrier, 0), -ETIMEDOUT);
	assert_int_equal(atomic_load(&c.through), 0);
	must_schedule(arrive_too, &c);
	(void)sennit_barrier_wait(&c.barrier);
	disperse(&party);
	assert_soon(atomic_load(&c.through) == 2);
}

TEST_WITH_WORKERS(who_waits_for_a_once_leaves)
{
	struct scene c = { .w = w };
	struct crowd first = { .run = do_once, .argument = &c, .tasks = 1 };

	gather(&first);
	assert_soon(waiting_for(c.w->s, &c.go_on) == 1);
	cancel_it(&c, attempt, &c.once, 0, NULL);
	sennit_event_set(&c.go_on);
	disperse(&first);
	assert_true(sennit_once_is_done(&c.once));
}

/* Calls that need no wait succeed. An uncancelled wait goes on. */
static int use_all(void *argument)
{
	struct scene *c = argument;

	EXPECT(sennit_group_cancel(&c->group));
	sennit_semaphore_init(&c->semaphore, 4);
	EXPECT(take_four(c) == 0);
	EXPECT(read_it(c) == 0);
	sennit_rwlock_unlock_shared(&c->lock);
	EXPECT(write_it(c) == 0);
	sennit_rwlock_unlock(&c->lock);
	sennit_barrier_init(&c->barrier, 1);
	EXPECT(arrive(c) == 1);
	EXPECT(take_four(c) == -ECANCELED);
	sennit_barrier_init(&c->barrier, 2);
	EXPECT(arrive(c) == -ECANCELED);
	sennit_barrier_destroy(&c->barrier);
	EXPECT(!sennit_semaphore_take_until(&c->semaphore, 1,
					    SENNIT_UNCANCELLED));
	return 0;
}

TEST_WITH_WORKERS(who_need_not_wait_is_served)
{
	struct scene c = { .w = w };

	sennit_group_init(&c.group, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&c.group, use_all, &c), 0);
	assert_soon(waiting_for(c.w->s, &c.semaphore) == 1);
	sennit_semaphore_give(&c.semaphore, 1);
	assert_int_equal(sennit_group_wait(&c.group), -ECANCELED);
}
