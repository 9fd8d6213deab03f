/* SPDX-License-Identifier: Apache-2.0 */
/* lock_fairness.c - a waiter is passed by at most as many others as the header
 * of the primitive states. The mutex has its own file. */
#include "contest.h"

#include <errno.h>

static unsigned those_before(unsigned place)
{
	return place;
}

/* --- reader-writer lock ------------------------------------------------- */

static bool write_it(struct contest *c, struct rival *r, sennit_time deadline,
		     use_fn *use)
{
	if (sennit_rwlock_lock_until(c->object, deadline))
		return false;
	use(r);
	sennit_rwlock_unlock(c->object);
	return true;
}

static bool read_it(struct contest *c, struct rival *r, sennit_time deadline,
		    use_fn *use)
{
	if (sennit_rwlock_lock_shared_until(c->object, deadline))
		return false;
	use(r);
	sennit_rwlock_unlock_shared(c->object);
	return true;
}

static void compete_for_rwlock(struct contest c)
{
	sennit_rwlock l = SENNIT_RWLOCK_INIT;

	c.object = &l;
	c.word = &l.state_;
	c.list = &l.waiters_;
	compete(&c);
	sennit_rwlock_destroy(&l);
}

/* Symptom: readers came while others read, and a writer never got its turn. */
TEST_WITH_WORKERS(readers_do_not_pass_a_writer_that_waits)
{
	compete_for_rwlock((struct contest){ .have = write_it,
					     .begin = read_it,
					     .come = read_it,
					     .nobody_queues = true,
					     .limit = those_before });
}

TEST_WITH_WORKERS(writers_go_in_their_order)
{
	compete_for_rwlock(
		(struct contest){ .have = write_it, .limit = those_before });
}

/* Of those that come, two wait: each of them reads once before each writer. */
static unsigned writers_and_phases(unsigned place)
{
	return place + 2 * (place + 1);
}

TEST_WITH_WORKERS(a_reader_passes_a_writer_once_in_each_phase)
{
	compete_for_rwlock((struct contest){ .have = write_it,
					     .come = read_it,
					     .limit = writers_and_phases });
}

static unsigned nobody(unsigned place)
{
	return 0;
}

/* The first one writes. None of those that come writes before all waiters have
 * read. */
TEST_WITH_WORKERS(a_reader_is_passed_by_one_writer_at_most)
{
	compete_for_rwlock((struct contest){ .have = read_it,
					     .begin = write_it,
					     .come = write_it,
					     .together = true,
					     .limit = nobody });
}

/* --- semaphore ---------------------------------------------------------- */

static bool take_one(struct contest *c, struct rival *r, sennit_time deadline,
		     use_fn *use)
{
	if (sennit_semaphore_acquire_until(c->object, 1, deadline))
		return false;
	use(r);
	sennit_semaphore_release(c->object, 1);
	return true;
}

/* The permits are given back one by one, so that those that want only one could
 * take them. */
static bool take_three(struct contest *c, struct rival *r, sennit_time deadline,
		       use_fn *use)
{
	if (sennit_semaphore_acquire_until(c->object, 3, deadline))
		return false;
	use(r);
	for (unsigned i = 0; i < 3; i++) {
		sennit_semaphore_release(c->object, 1);
		sennit_yield();
	}
	return true;
}

static void compete_for_permits(have_fn *have, uint32_t permits)
{
	sennit_semaphore s;
	struct contest   c = { .have = have,
			       .come = take_one,
			       .limit = those_before,
			       .object = &s,
			       .word = &s.state_,
			       .list = &s.waiters_ };

	sennit_semaphore_init(&s, permits);
	compete(&c);
	assert_int_equal(sennit_semaphore_count(&s), permits);
}

TEST_WITH_WORKERS(permits_go_to_whoever_has_waited_longest)
{
	compete_for_permits(take_one, 1);
}

/* Symptom: a waiter that wants several permits never found so many at once. */
TEST_WITH_WORKERS(one_that_wants_many_is_passed_by_nobody)
{
	compete_for_permits(take_three, 3);
}

/* --- once --------------------------------------------------------------- */

struct attempt {
	struct rival *r;
	use_fn       *use;
};

static int fail_with_it(void *argument)
{
	const struct attempt *a = argument;

	a->use(a->r);
	return -EAGAIN;
}

static bool attempt(struct contest *c, struct rival *r, sennit_time deadline,
		    use_fn *use)
{
	struct attempt a = { .r = r, .use = use };

	return sennit_once_attempt_until(c->object, fail_with_it, &a,
					 deadline) == -EAGAIN;
}

TEST_WITH_WORKERS(a_turn_after_a_failure_goes_to_who_has_waited_longest)
{
	sennit_once    o = SENNIT_ONCE_INIT;
	struct contest c = { .have = attempt,
			     .limit = those_before,
			     .object = &o,
			     .word = &o.state_,
			     .list = &o.waiters_ };

	compete(&c);
	sennit_once_destroy(&o);
}

/* --- barrier ------------------------------------------------------------ */

enum { PARTIES = 4, PHASES = 3 };

struct arrivals {
	sennit_barrier    b;
	sennit_wait_group done;
	atomic_uint       left; /* number of parties that have returned */
};

static void arrive(void *argument)
{
	struct arrivals *a = argument;

	(void)sennit_barrier_wait(&a->b);
	atomic_fetch_add(&a->left, 1);
	sennit_wait_group_done(&a->done);
}

/* Symptom: with more parties than a phase has, the latest parties continued,
 * and earlier ones waited for another phase. */
TEST_WITH_WORKERS(a_party_goes_on_with_the_phase_it_came_for)
{
	struct arrivals a = { .left = 0 };
	pthread_t       threads[PARTIES * PHASES];

	sennit_barrier_init(&a.b, PARTIES);
	sennit_wait_group_init(&a.done, PARTIES * PHASES);
	for (unsigned i = 0; i < PARTIES * PHASES; i++) {
		const unsigned ended = (i + 1) / PARTIES * PARTIES;

		if (i % 3 == 1)
			threads[i] = start_on_thread(arrive, &a);
		else
			must_schedule(arrive, &a);
		EXPECT_SOON(waiters_of(&a.b.state_, &a.b.waiters_) ==
			    i + 1 - ended);
		EXPECT_SOON(atomic_load(&a.left) == ended);
	}
	sennit_wait_group_wait(&a.done);
	for (unsigned i = 1; i < PARTIES * PHASES; i += 3)
		pthread_join(threads[i], NULL);
	sennit_barrier_destroy(&a.b);
}

/* --- condition variable ------------------------------------------------- */

enum { NOTIFIED = 9, ROUNDS = 3, NONE = NOTIFIED };

struct notices {
	sennit_mutex      lock;
	sennit_cond       cond;
	sennit_wait_group done;
	atomic_uint       next; /* index of the next fiber that starts */
	atomic_uint       last; /* index of the fiber that was notified last */
};

static void wait_again(void *argument)
{
	struct notices *n = argument;
	const unsigned  me = atomic_fetch_add(&n->next, 1);

	sennit_mutex_lock(&n->lock);
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT(!sennit_cond_wait(&n->cond, &n->lock));
		EXPECT(atomic_exchange(&n->last, me) == NONE);
		sennit_yield();
	}
	sennit_mutex_unlock(&n->lock);
	sennit_wait_group_done(&n->done);
}

static void notify_each(struct notices *n)
{
	for (unsigned i = 0; i < NOTIFIED * ROUNDS; i++) {
		const unsigned left = i < NOTIFIED * (ROUNDS - 1)
					      ? NOTIFIED
					      : NOTIFIED * ROUNDS - 1 - i;

		sennit_mutex_lock(&n->lock);
		sennit_cond_notify_one(&n->cond);
		sennit_yield();
		sennit_mutex_unlock(&n->lock);
		EXPECT_SOON(atomic_load(&n->last) != NONE);
		EXPECT(atomic_exchange(&n->last, NONE) == i % NOTIFIED);
		EXPECT_SOON(waiters_of(&n->cond.state_, &n->cond.waiters_) ==
			    left);
	}
}

TEST_WITH_WORKERS(a_notify_goes_to_whoever_has_waited_longest)
{
	struct notices n = { .last = NONE };
	pthread_t      threads[NOTIFIED];

	sennit_wait_group_init(&n.done, NOTIFIED);
	for (unsigned i = 0; i < NOTIFIED; i++) {
		if (i % 3 == 1)
			threads[i] = start_on_thread(wait_again, &n);
		else
			must_schedule(wait_again, &n);
		EXPECT_SOON(waiters_of(&n.cond.state_, &n.cond.waiters_) ==
			    i + 1);
	}
	notify_each(&n);
	sennit_wait_group_wait(&n.done);
	for (unsigned i = 1; i < NOTIFIED; i += 3)
		pthread_join(threads[i], NULL);
	sennit_cond_destroy(&n.cond);
	sennit_mutex_destroy(&n.lock);
}
