/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_fairness.c - no waiter is passed over for ever, and a free mutex does
 * not wait for a fiber whose worker is busy. Counts grants, not time. */
#include "with_workers.h"

#include "api/mutex_queue.h"

#include <errno.h>

/* The bound in mutex.h for a caller that finds `before` waiters. */
#define GRANTS_TO_OTHERS(before) (4096u * ((before) + 1))

/* The number of waiters of *m. Lets a test force an order without timing. */
static unsigned waiters_of(sennit_mutex *m)
{
	uint32_t     word = sn_wait_queue_lock(&m->state_);
	struct link *first = m->waiters_;
	struct link *at = first;
	unsigned     count = 0;

	while (at) {
		count++;
		at = sn_link_after(at, first);
	}
	sn_wait_queue_unlock(&m->state_, word);
	return count;
}

/* --- each waiter is served ---------------------------------------------- */

enum { CROWD = 64, TURNS = 20 };

struct crowd {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          members;
	unsigned          short_turns; /* short turns before each turn that is
				        * held across a wait; 0: no such turn */
	unsigned          most;        /* grants after which all give up */
	atomic_uint       next;
	atomic_uint       grants;  /* written under lock */
	unsigned          longest; /* under lock: most grants to others during
				    * one wait */
	unsigned          turns[CROWD + 8]; /* under lock */
	unsigned          served; /* under lock: number of tasks that have had
				   * all turns */
	atomic_bool       over;
};

static void be_served(struct crowd *c, unsigned me, bool hold)
{
	unsigned before = atomic_load(&c->grants);
	unsigned passed;

	sennit_mutex_lock(&c->lock);
	passed = atomic_fetch_add(&c->grants, 1) - before;
	if (passed > c->longest)
		c->longest = passed;
	if (++c->turns[me] == TURNS && ++c->served == c->members)
		atomic_store(&c->over, true);
	if (passed + before > c->most)
		atomic_store(&c->over, true);
	if (hold)
		sennit_yield();
	sennit_mutex_unlock(&c->lock);
}

static void crowd_in(void *argument)
{
	struct crowd *c = argument;
	unsigned      me = atomic_fetch_add(&c->next, 1);
	unsigned      i;

	while (!atomic_load(&c->over)) {
		for (i = 0; i < c->short_turns; i++)
			be_served(c, me, false);
		be_served(c, me, c->short_turns > 0);
	}
	sennit_wait_group_done(&c->done);
}

static void *crowd_in_as_thread(void *argument)
{
	crowd_in(argument);
	return NULL;
}

static void serve(struct crowd *c, unsigned fibers, unsigned threads)
{
	pthread_t thread[8];
	unsigned  i;

	c->members = fibers + threads;
	sennit_wait_group_init(&c->done, c->members);
	for (i = 0; i < threads; i++)
		thread[i] = must_start_thread(crowd_in_as_thread, c);
	for (i = 0; i < fibers; i++)
		must_schedule(crowd_in, c);
	sennit_wait_group_wait(&c->done);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(c->served, c->members);
	sennit_mutex_destroy(&c->lock);
}

/* Symptom: with five short turns and one turn held across a yield, the third
 * fiber never got the lock. On one thread no wait is interrupted, so the grants
 * to others can be counted. */
static void a_hold_across_a_wait_starves_nobody(void **state)
{
	const unsigned counts[] = { 3, CROWD };
	struct world  *w = *state;
	unsigned       i;

	for (i = 0; i < 2; i++) {
		struct crowd c = { .short_turns = 5,
				   .most = w->threads > 1 ? UINT32_MAX / 2
							  : 10000000 };

		serve(&c, counts[i], 0);
		if (w->threads <= 1)
			assert_true(c.longest <= GRANTS_TO_OTHERS(counts[i]));
	}
}

/* Symptom: most of 64 fibers on two workers that used nothing else got nothing
 * for seconds. (With one worker the first fiber would never wait, and the
 * others would not begin.) */
static void fibers_that_want_nothing_else_all_get_it(void **state)
{
	struct crowd c = { .most = UINT32_MAX / 2 };

	(void)state;
	serve(&c, CROWD, 0);
}

static void threads_and_fibers_all_get_it(void **state)
{
	struct crowd c = { .short_turns = 5, .most = UINT32_MAX / 2 };

	(void)state;
	serve(&c, 16, 4);
}

/* --- a holder that never waits ------------------------------------------ */

struct hog {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          neighbours;
	atomic_uint       queued; /* waiters about to lock */
	atomic_uint       served;
};

static void be_a_neighbour(void *argument)
{
	struct hog *h = argument;

	atomic_fetch_add(&h->queued, 1);
	sennit_mutex_lock(&h->lock);
	atomic_fetch_add(&h->served, 1);
	sennit_mutex_unlock(&h->lock);
	sennit_wait_group_done(&h->done);
}

static void be_a_hog(void *argument)
{
	struct hog *h = argument;
	unsigned    i;

	sennit_mutex_lock(&h->lock);
	for (i = 0; i < h->neighbours; i++)
		must_schedule_here(be_a_neighbour, h);
	while (atomic_load(&h->queued) < h->neighbours)
		sennit_yield();
	sennit_mutex_unlock(&h->lock);
	for (i = 0; atomic_load(&h->served) < h->neighbours; i++) {
		if (i == GRANTS_TO_OTHERS(h->neighbours))
			break;
		sennit_mutex_lock(&h->lock);
		sennit_mutex_unlock(&h->lock);
	}
	EXPECT(atomic_load(&h->served) == h->neighbours);
	sennit_wait_group_done(&h->done);
}

/* Symptom: a fiber that locks and unlocks without waiting kept the lock from
 * the fibers of its own worker for ever. */
static void a_hog_lets_those_of_its_own_worker_have_it(void **state)
{
	const unsigned counts[] = { 1, 2, 100 };
	unsigned       i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct hog h = { .neighbours = counts[i] };

		sennit_wait_group_init(&h.done, counts[i] + 1);
		must_schedule(be_a_hog, &h);
		sennit_wait_group_wait(&h.done);
		sennit_mutex_destroy(&h.lock);
	}
}

/* --- a waiter whose worker is busy -------------------------------------- */

struct jam {
	sennit_mutex      lock;
	sennit_wait_group done;
	atomic_bool       busy;   /* the first waiter's worker */
	atomic_bool       served; /* the second waiter */
	bool              tired;  /* the second waiter stops polling first */
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

static void *be_second_as_thread(void *argument)
{
	be_second(argument);
	return NULL;
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
	return waiters_of(&j->lock) == 2 &&
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
 * second waiter, whose worker was idle, slept until the first one's worker had
 * time: for ever, if that worker waited for the second one. */
static void a_free_lock_does_not_wait_for_a_busy_worker(void **state)
{
	unsigned tired;

	(void)state;
	for (tired = 0; tired < 2; tired++) {
		struct jam j = { .tired = tired };

		begin_jam(&j);
		sennit_wait_group_add(&j.done, 1);
		must_schedule(be_second, &j);
		end_jam(&j);
	}
}

static void a_thread_does_not_wait_for_a_busy_worker(void **state)
{
	unsigned tired;

	(void)state;
	for (tired = 0; tired < 2; tired++) {
		struct jam j = { .tired = tired };
		pthread_t  thread;

		begin_jam(&j);
		sennit_wait_group_add(&j.done, 1);
		thread = must_start_thread(be_second_as_thread, &j);
		end_jam(&j);
		pthread_join(thread, NULL);
	}
}

/* Repeat until the lock is handed to the first waiter, which cannot come. */
static void a_lock_handed_to_a_busy_worker_is_taken_back(void **state)
{
	struct jam j = { .busy = false };
	unsigned   i;

	(void)state;
	begin_jam(&j);
	for (i = 0; i < 4 * GRANTS_TO_OTHERS(0); i++) {
		sennit_mutex_unlock(&j.lock);
		sennit_mutex_lock(&j.lock);
	}
	atomic_store(&j.served, true);
	sennit_mutex_unlock(&j.lock);
	sennit_wait_group_wait(&j.done);
	sennit_mutex_destroy(&j.lock);
}

/* --- a hand-over past the first ------------------------------------------ */

struct detour {
	struct jam  first; /* its worker is busy for a while */
	atomic_bool freed; /* the first worker */
	atomic_bool busy;  /* the second waiter's worker */
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

/* Unlock with a hand-over, to the first waiter that was not late. */
static void hand_over(sennit_mutex *m)
{
	uint32_t word = sn_wait_queue_lock(&m->state_);

	sn_wait_queue_unlock(&m->state_, word | HANDOVER);
	sennit_mutex_unlock(m);
	assert_true(a_load_rlx(&m->state_) & HANDED);
}

/* Symptom: the first waiter missed a hand-over because its worker was busy. The
 * next hand-over went to the second waiter, whose worker was busy, too. When
 * the first one's worker became free, the first waiter slept until the second
 * one's worker was: for ever, if that worker waited for the first one. */
static void who_was_late_takes_back_what_went_past_it(void **state)
{
	struct detour d = { .freed = false };

	(void)state;
	sennit_wait_group_init(&d.first.done, 4);
	sennit_mutex_lock(&d.first.lock);
	must_schedule(be_first_for_a_while, &d);
	assert_soon(atomic_load(&d.first.busy));
	must_schedule(be_next, &d);
	assert_soon(atomic_load(&d.busy));
	assert_int_equal(waiters_of(&d.first.lock), 2);
	hand_over(&d.first.lock);
	sennit_mutex_lock(&d.first.lock); /* taken back from the first waiter */
	hand_over(&d.first.lock);
	atomic_store(&d.freed, true);
	while (!atomic_load(&d.first.served))
		sched_yield();
	sennit_wait_group_wait(&d.first.done);
	sennit_mutex_destroy(&d.first.lock);
}

/* --- a lock that is held for long ---------------------------------------- */

/* Maximum sleeps of one waiter, each followed by a look. */
#define LOOKS TORTURED(7, 6)

static void have_it_once(void *argument)
{
	struct jam *j = argument;

	sennit_mutex_lock(&j->lock);
	sennit_mutex_unlock(&j->lock);
	sennit_wait_group_done(&j->done);
}

/* The bound holds at any time. Half a second is enough to detect a
 * violation. */
static uint64_t count_looks(struct world *w)
{
	uint64_t before = stats_of(w->s).blocks;

	sennit_sleep(SENNIT_SECOND / 2);
	return stats_of(w->s).blocks - before;
}

/* Symptom: a waiter behind one of another worker polled a lock every 16 ms for
 * as long as it was held, even for minutes. */
static void a_waiter_does_not_look_for_ever(void **state)
{
	struct world *w = *state;
	struct jam    j = { .busy = false };
	uint64_t      looks;

	begin_jam(&j);
	sennit_wait_group_add(&j.done, 1);
	must_schedule(be_second, &j);
	assert_soon(waiters_of(&j.lock) == 2);
	looks = count_looks(w);
	end_jam(&j);
	assert_in_range(looks, 0, LOOKS + 1);
}

static void many_waiters_do_not_look_for_ever(void **state)
{
	struct world *w = *state;
	struct jam    j = { .busy = false };
	uint64_t      looks;
	unsigned      i;

	sennit_wait_group_init(&j.done, CROWD);
	sennit_mutex_lock(&j.lock);
	for (i = 0; i < CROWD; i++)
		must_schedule(have_it_once, &j);
	assert_soon(waiters_of(&j.lock) == CROWD);
	looks = count_looks(w);
	sennit_mutex_unlock(&j.lock);
	sennit_wait_group_wait(&j.done);
	sennit_mutex_destroy(&j.lock);
	assert_in_range(looks, 0, CROWD * LOOKS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(a_hold_across_a_wait_starves_nobody),
		WITH_SEVERAL(fibers_that_want_nothing_else_all_get_it),
		WITH_WORKERS(threads_and_fibers_all_get_it),
		WITHOUT(a_hog_lets_those_of_its_own_worker_have_it),
		WITH_ONE(a_hog_lets_those_of_its_own_worker_have_it),
		WITH_SEVERAL(a_free_lock_does_not_wait_for_a_busy_worker),
		WITH_THREADS(a_thread_does_not_wait_for_a_busy_worker),
		WITH_THREADS(a_lock_handed_to_a_busy_worker_is_taken_back),
		WITH_SEVERAL(who_was_late_takes_back_what_went_past_it),
		WITH_SEVERAL(a_waiter_does_not_look_for_ever),
		WITH_WORKERS(many_waiters_do_not_look_for_ever),
	};

	return cmocka_run_group_tests_name("api/mutex_fairness", tests, NULL,
					   NULL);
}
