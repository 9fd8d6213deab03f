/* SPDX-License-Identifier: Apache-2.0 */
/* lock_busy_worker.c - waiters that are released together do not wait for one
 * of them whose worker is busy. That waiter is the first in line, and its
 * worker waits for the second. The mutex has its own file. */
#include "testing/with_workers.h"

#include "waiters.h"

/* Two waiters wait for an object that the test's thread holds. */
struct pair {
	void (*hold)(struct pair *p); /* call prepare(p), then release both */
	void (*wait)(void *object);
	void             *object;
	sennit_word      *word;
	void            **list;
	pthread_t         second;
	sennit_wait_group done;
	atomic_bool       busy; /* the first waiter's worker is busy */
	atomic_bool       gone; /* the second waiter has returned */
};

static void be_busy_until_the_second_has_gone(void *argument)
{
	struct pair *p = argument;
	sennit_time  spent = 0;

	atomic_store(&p->busy, true);
	while (!atomic_load(&p->gone) && count_pause(&spent, sennit_now()))
		;
	EXPECT(atomic_load(&p->gone));
	sennit_wait_group_done(&p->done);
}

static void be_first(void *argument)
{
	struct pair *p = argument;

	must_schedule_here(be_busy_until_the_second_has_gone, p);
	p->wait(p->object);
	sennit_wait_group_done(&p->done);
}

static void *be_second(void *argument)
{
	struct pair *p = argument;

	p->wait(p->object);
	atomic_store(&p->gone, true);
	return NULL;
}

static void prepare(struct pair *p)
{
	must_schedule(be_first, p);
	EXPECT_SOON(atomic_load(&p->busy));
	p->second = must_start_thread(be_second, p);
	EXPECT_SOON(waiters_of(p->word, p->list) == 2);
}

static void let_go(struct pair p)
{
	sennit_wait_group_init(&p.done, 2);
	p.hold(&p);
	pthread_join(p.second, NULL);
	sennit_wait_group_wait(&p.done);
}

/* --- readers ------------------------------------------------------------ */

static void read_once(void *object)
{
	sennit_rwlock_lock_shared(object);
	sennit_rwlock_unlock_shared(object);
}

static void hold_rwlock(struct pair *p)
{
	sennit_rwlock_lock(p->object);
	prepare(p);
	sennit_rwlock_unlock(p->object);
}

TEST_WITH_THREADS(a_reader_does_not_wait_for_a_busy_one)
{
	sennit_rwlock l = SENNIT_RWLOCK_INIT;

	let_go((struct pair){ .hold = hold_rwlock,
			      .wait = read_once,
			      .object = &l,
			      .word = &l.state_,
			      .list = &l.waiters_ });
	sennit_rwlock_destroy(&l);
}

/* --- permits ------------------------------------------------------------ */

static void take_one(void *object)
{
	EXPECT(!sennit_semaphore_acquire(object, 1));
}

static void hold_permits(struct pair *p)
{
	prepare(p);
	sennit_semaphore_release(p->object, 2);
}

TEST_WITH_THREADS(a_permit_does_not_wait_for_a_busy_taker)
{
	sennit_semaphore s = SENNIT_SEMAPHORE_INIT;

	let_go((struct pair){ .hold = hold_permits,
			      .wait = take_one,
			      .object = &s,
			      .word = &s.state_,
			      .list = &s.waiters_ });
	sennit_semaphore_destroy(&s);
}

/* --- parties ------------------------------------------------------------ */

static void arrive(void *object)
{
	(void)sennit_barrier_wait(object);
}

static void arrive_last(struct pair *p)
{
	prepare(p);
	EXPECT(sennit_barrier_wait(p->object));
}

TEST_WITH_THREADS(a_party_does_not_wait_for_a_busy_one)
{
	sennit_barrier b = SENNIT_BARRIER_INIT(3);

	let_go((struct pair){ .hold = arrive_last,
			      .wait = arrive,
			      .object = &b,
			      .word = &b.state_,
			      .list = &b.waiters_ });
	sennit_barrier_destroy(&b);
}

/* --- once --------------------------------------------------------------- */

static void do_nothing(void *unused)
{
}

static void see_it_done(void *object)
{
	sennit_once_call(object, do_nothing, NULL);
}

static void do_it(void *pair)
{
	prepare(pair);
}

static void do_it_once(struct pair *p)
{
	sennit_once_call(p->object, do_it, p);
}

TEST_WITH_THREADS(what_is_done_does_not_wait_for_a_busy_waiter)
{
	sennit_once o = SENNIT_ONCE_INIT;

	let_go((struct pair){ .hold = do_it_once,
			      .wait = see_it_done,
			      .object = &o,
			      .word = &o.state_,
			      .list = &o.waiters_ });
	sennit_once_destroy(&o);
}

/* --- notify_all ---------------------------------------------------------- */

static sennit_mutex mutex = SENNIT_MUTEX_INIT;

static void await_notify(void *object)
{
	sennit_mutex_lock(&mutex);
	EXPECT(!sennit_cond_wait(object, &mutex));
	sennit_mutex_unlock(&mutex);
}

static void notify_both(struct pair *p)
{
	prepare(p);
	sennit_cond_notify_all(p->object);
}

TEST_WITH_THREADS(who_is_notified_does_not_wait_for_a_busy_one)
{
	sennit_cond c = SENNIT_COND_INIT;

	let_go((struct pair){ .hold = notify_both,
			      .wait = await_notify,
			      .object = &c,
			      .word = &c.state_,
			      .list = &c.waiters_ });
	sennit_cond_destroy(&c);
}
