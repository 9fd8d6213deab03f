/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_fairness.c - nobody is passed over for ever, and a free mutex does not
 * wait for a fiber whose worker is busy. Counts grants, not time. */
#include "with_workers.h"

#include <errno.h>

/* As mutex.h states it, for one that finds `before` waiting. */
#define GRANTS_TO_OTHERS(before) (4096u * ((before) + 1))

/* --- who waits is served ------------------------------------------------ */

enum { CROWD = 64, TURNS = 20 };

struct crowd {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          members;
	unsigned          short_turns; /* before each that is held in a wait;
					* 0: none is */
	unsigned          most;        /* grants after which all give up */
	atomic_uint       next;
	atomic_uint       grants;  /* written under lock */
	unsigned          longest; /* under lock: grants to others in a wait */
	unsigned          turns[CROWD + 8]; /* under lock */
	unsigned          served; /* under lock: who have had all turns */
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

/* Symptom: five short turns and one held across a yield, and the third fiber
 * never gets the lock. On one thread no wait is interrupted, so the grants to
 * others in each can be counted. */
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

/* Symptom: of 64 fibers of two workers that want nothing else, most get nothing
 * for seconds. (With one worker the first would never wait, and the others not
 * begin.) */
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
	atomic_uint       queued; /* about to lock */
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

/* Symptom: a fiber that locks and unlocks and never waits keeps the lock from
 * those of its own worker for ever. */
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
	atomic_bool       busy;   /* the first one's worker */
	atomic_bool       served; /* the second */
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

/* Lock, and have the first waiter wait, with its worker busy. */
static void begin_jam(struct jam *j)
{
	sennit_wait_group_init(&j->done, 2);
	sennit_mutex_lock(&j->lock);
	must_schedule(be_first, j);
	assert_soon(atomic_load(&j->busy));
}

/* Symptom: the first is woken for a free lock and cannot run; the second, whose
 * worker idles, sleeps until the first one's worker has time: for ever, if that
 * waits for the second. */
static void a_free_lock_does_not_wait_for_a_busy_worker(void **state)
{
	struct world *w = *state;
	struct jam    j = { .busy = false };

	begin_jam(&j);
	sennit_wait_group_add(&j.done, 1);
	must_schedule(be_second, &j);
	assert_soon(fibers_of(w->s) >= 2);
	sennit_mutex_unlock(&j.lock);
	while (!atomic_load(&j.served))
		sched_yield();
	sennit_wait_group_wait(&j.done);
	sennit_mutex_destroy(&j.lock);
}

static void a_thread_does_not_wait_for_a_busy_worker(void **state)
{
	struct jam j = { .busy = false };
	pthread_t  thread;

	(void)state;
	begin_jam(&j);
	sennit_wait_group_add(&j.done, 1);
	thread = must_start_thread(be_second_as_thread, &j);
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_mutex_unlock(&j.lock);
	sennit_wait_group_wait(&j.done);
	pthread_join(thread, NULL);
	sennit_mutex_destroy(&j.lock);
}

/* So often that it is handed to the first, which cannot come. */
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
	};

	return cmocka_run_group_tests_name("api/mutex_fairness", tests, NULL,
					   NULL);
}
