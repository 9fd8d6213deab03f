/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_busy_worker.c - a free mutex does not wait for a fiber whose worker is
 * busy, and does not keep an idle worker looking at it. */
#include "testing/with_workers.h"

#include "sync/mutex.h"
#include "waiters.h"

static unsigned waiters_for(sennit_mutex *m)
{
	return waiters_of(&m->state_, &m->waiters_);
}

/* --- a waiter whose worker is busy -------------------------------------- */

struct jam {
	sennit_mutex      lock;
	sennit_wait_group done;
	atomic_bool       busy;   /* the first waiter's worker is busy */
	atomic_bool       served; /* the second waiter has had the lock */
	bool              tired;  /* whether the second waiter first stops
				   * polling */
};

static void be_busy_until_served(void *argument)
{
	struct jam *j = argument;
	sennit_time spent = 0;

	atomic_store(&j->busy, true);
	while (!atomic_load(&j->served) && count_pause(&spent, sennit_now()))
		;
	EXPECT(atomic_load(&j->served));
	sennit_wait_group_done(&j->done);
}

static void be_first(void *argument)
{
	struct jam *j = argument;

	must_schedule_here(be_busy_until_served, j);
	sennit_mutex_lock(&j->lock);
	sennit_mutex_unlock(&j->lock);
	sennit_wait_group_done(&j->done);
}

static void be_second(void *argument)
{
	struct jam *j = argument;

	sennit_mutex_lock(&j->lock);
	atomic_store(&j->served, true);
	sennit_mutex_unlock(&j->lock);
	sennit_wait_group_done(&j->done);
}

/* Lock, and let the first waiter wait while its worker is busy. */
static void begin_jam(struct jam *j)
{
	sennit_wait_group_init(&j->done, 2);
	sennit_mutex_lock(&j->lock);
	must_schedule(be_first, j);
	assert_soon(atomic_load(&j->busy));
}

static bool is_queued_up(struct jam *j)
{
	return waiters_for(&j->lock) == 2 &&
	       (!j->tired || a_load_rlx(&j->lock.state_) & STOPPED);
}

static void end_jam(struct jam *j)
{
	assert_soon(is_queued_up(j));
	sennit_mutex_unlock(&j->lock);
	while (!atomic_load(&j->served))
		sched_yield();
	sennit_wait_group_wait(&j->done);
	sennit_mutex_destroy(&j->lock);
}

/* Symptom: the first waiter was woken for a free lock and could not run. The
 * second, whose worker was idle, slept until the first one's worker had time:
 * for ever, if that worker waited for the second. */
TEST_WITH_SEVERAL(a_free_lock_does_not_wait_for_a_busy_worker)
{
	unsigned tired;

	for (tired = 0; tired < 2; tired++) {
		struct jam j = { .tired = tired };

		begin_jam(&j);
		sennit_wait_group_add(&j.done, 1);
		must_schedule(be_second, &j);
		end_jam(&j);
	}
}

TEST_WITH_THREADS(a_thread_does_not_wait_for_a_busy_worker)
{
	unsigned tired;

	for (tired = 0; tired < 2; tired++) {
		struct jam j = { .tired = tired };
		pthread_t  thread;

		begin_jam(&j);
		sennit_wait_group_add(&j.done, 1);
		thread = start_on_thread(be_second, &j);
		end_jam(&j);
		pthread_join(thread, NULL);
	}
}

/* Unlock and lock until an unlock hands the lock over. Returns the number of
 * unlocks. */
static unsigned give_back_until_handed(sennit_mutex *m)
{
	unsigned unlocks = 0;

	for (;;) {
		unlocks++;
		sennit_mutex_unlock(m);
		if (a_load_rlx(&m->state_) & HANDED || unlocks > 2 * MAX_GRANTS)
			return unlocks;
		sennit_mutex_lock(m);
	}
}

/* The first waiter cannot run, and no other waits. So each unlock is counted,
 * and the one after the last that mutex.h allows hands over. */
TEST_WITH_THREADS(a_lock_is_handed_over_after_so_many_grants)
{
	struct jam j = { .busy = false };
	unsigned   unlocks;

	begin_jam(&j);
	unlocks = give_back_until_handed(&j.lock);
	atomic_store(&j.served, true);
	sennit_wait_group_wait(&j.done);
	sennit_mutex_destroy(&j.lock);
	assert_in_range(unlocks, 1, MAX_GRANTS);
}

/* The waiter that gets the lock by hand-over cannot run. */
TEST_WITH_THREADS(a_lock_handed_to_a_busy_worker_is_taken_back)
{
	struct jam j = { .busy = false };

	begin_jam(&j);
	for (unsigned i = 0; i < 4; i++) {
		if (!i)
			give_back_until_handed(&j.lock);
		else
			sennit_mutex_unlock(&j.lock);
		sennit_mutex_lock(&j.lock);
	}
	atomic_store(&j.served, true);
	sennit_mutex_unlock(&j.lock);
	sennit_wait_group_wait(&j.done);
	sennit_mutex_destroy(&j.lock);
}

/* --- a hand-over past the first waiter ----------------------------------- */

struct detour {
	struct jam  first; /* its first waiter's worker is busy for a while */
	atomic_bool freed; /* that worker may continue */
	atomic_bool busy;  /* the second waiter's worker is busy */
};

static void be_busy_until_freed(void *argument)
{
	struct detour *d = argument;
	sennit_time    spent = 0;

	atomic_store(&d->first.busy, true);
	while (!atomic_load(&d->freed) && count_pause(&spent, sennit_now()))
		;
	sennit_wait_group_done(&d->first.done);
}

static void be_first_for_a_while(void *argument)
{
	struct detour *d = argument;

	must_schedule_here(be_busy_until_freed, d);
	be_second(&d->first);
}

static void be_busy_then(void *argument)
{
	struct detour *d = argument;

	atomic_store(&d->busy, true);
	be_busy_until_served(&d->first);
}

static void be_next(void *argument)
{
	struct detour *d = argument;

	must_schedule_here(be_busy_then, d);
	sennit_mutex_lock(&d->first.lock);
	sennit_mutex_unlock(&d->first.lock);
	sennit_wait_group_done(&d->first.done);
}

/* Unlock: the lock is handed to the first waiter that has not been late. */
static void hand_over(sennit_mutex *m)
{
	uint32_t word = sn_wait_queue_lock(&m->state_);

	sn_wait_queue_unlock(&m->state_, word | HANDOVER);
	sennit_mutex_unlock(m);
	assert_true(a_load_rlx(&m->state_) & HANDED);
}

/* Symptom: the first waiter did not take a hand-over, because its worker was
 * busy, and the next hand-over went to the second, whose worker was busy, too.
 * Then the first one's worker was free, but the first slept until the second's
 * was free: for ever, if that worker waited for the first. */
TEST_WITH_SEVERAL(who_was_late_takes_back_what_went_past_it)
{
	struct detour d = { .freed = false };

	sennit_wait_group_init(&d.first.done, 4);
	sennit_mutex_lock(&d.first.lock);
	must_schedule(be_first_for_a_while, &d);
	assert_soon(atomic_load(&d.first.busy));
	must_schedule(be_next, &d);
	assert_soon(atomic_load(&d.busy));
	assert_int_equal(waiters_for(&d.first.lock), 2);
	hand_over(&d.first.lock);
	sennit_mutex_lock(&d.first.lock); /* taken back from the first waiter */
	hand_over(&d.first.lock);
	atomic_store(&d.freed, true);
	while (!atomic_load(&d.first.served))
		sched_yield();
	sennit_wait_group_wait(&d.first.done);
	sennit_mutex_destroy(&d.first.lock);
}

/* --- a lock that is held for a long time --------------------------------- */

enum { CROWD = 64 };

/* The number of times that one waiter sleeps: once after each look. */
#define LOOKS TORTURED(7, 6)

static void have_it_once(void *argument)
{
	struct jam *j = argument;

	sennit_mutex_lock(&j->lock);
	sennit_mutex_unlock(&j->lock);
	sennit_wait_group_done(&j->done);
}

/* The bound holds at any time. Half a second is long enough to find a
 * violation. */
static uint64_t count_looks(struct world *w)
{
	uint64_t before = stats_of(w->s).blocks;

	sennit_sleep(SENNIT_SECOND / 2);
	return stats_of(w->s).blocks - before;
}

/* Symptom: a waiter behind one of another worker looked every 16 ms at a lock
 * that was held for minutes, all the time. */
TEST_WITH_SEVERAL(a_waiter_does_not_look_for_ever)
{
	struct jam j = { .busy = false };
	uint64_t   looks;

	begin_jam(&j);
	sennit_wait_group_add(&j.done, 1);
	must_schedule(be_second, &j);
	assert_soon(waiters_for(&j.lock) == 2);
	looks = count_looks(w);
	end_jam(&j);
	assert_in_range(looks, 0, LOOKS + 1);
}

TEST_WITH_WORKERS(many_waiters_do_not_look_for_ever)
{
	struct jam j = { .busy = false };
	uint64_t   looks;

	sennit_wait_group_init(&j.done, CROWD);
	sennit_mutex_lock(&j.lock);
	for (unsigned i = 0; i < CROWD; i++)
		must_schedule(have_it_once, &j);
	assert_soon(waiters_for(&j.lock) == CROWD);
	looks = count_looks(w);
	sennit_mutex_unlock(&j.lock);
	sennit_wait_group_wait(&j.done);
	sennit_mutex_destroy(&j.lock);
	assert_in_range(looks, 0, CROWD * LOOKS + 1);
}
