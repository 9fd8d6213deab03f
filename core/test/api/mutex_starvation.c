/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_starvation.c - a waiter gets a mutex however often others take it,
 * and also from a holder that never waits. */
#include "testing/with_workers.h"

/* --- no starvation ------------------------------------------------------ */

struct greed {
	sennit_mutex      lock;
	sennit_wait_group done;
	atomic_bool       served;
};

static void be_greedy(void *argument)
{
	struct greed *g = argument;

	while (!atomic_load(&g->served)) {
		sennit_mutex_lock(&g->lock);
		sennit_yield();
		sennit_mutex_unlock(&g->lock);
	}
	sennit_wait_group_done(&g->done);
}

static void be_modest(void *argument)
{
	struct greed *g = argument;

	sennit_mutex_lock(&g->lock);
	atomic_store(&g->served, true);
	sennit_mutex_unlock(&g->lock);
	sennit_wait_group_done(&g->done);
}

TEST_WITH_WORKERS(a_waiter_gets_it_however_often_others_take_it)
{
	struct greed g = { .served = false };

	sennit_wait_group_init(&g.done, 5);
	for (unsigned i = 0; i < 4; i++)
		must_schedule(be_greedy, &g);
	must_schedule(be_modest, &g);
	sennit_wait_group_wait(&g.done);
}

static void modest_thread(void *argument)
{
	struct greed *g = argument;

	sennit_mutex_lock(&g->lock);
	atomic_store(&g->served, true);
	sennit_mutex_unlock(&g->lock);
}

TEST_WITH_WORKERS(an_unbound_thread_gets_it_from_greedy_fibers)
{
	struct greed g = { .served = false };

	sennit_wait_group_init(&g.done, 2);
	must_schedule(be_greedy, &g);
	must_schedule(be_greedy, &g);
	in_a_thread(modest_thread, &g);
	sennit_wait_group_wait(&g.done);
}

/* --- no starvation by a holder that never waits ------------------------- */

/* A hog locks and unlocks until the guest, on another worker, has had the lock.
 * Other waiters may come before and after the guest. */
struct hog {
	sennit_mutex      lock;
	sennit_wait_group done;
	unsigned          neighbours; /* waiters on the hog's worker */
	atomic_uint       present;
	atomic_uint       queued; /* waiters about to lock */
	atomic_bool       full;   /* the neighbours wait */
	atomic_bool       served;
	atomic_uint       turns;
};

static void be_a_neighbour(void *argument)
{
	struct hog *h = argument;

	atomic_fetch_add(&h->queued, 1);
	sennit_mutex_lock(&h->lock);
	atomic_fetch_add(&h->turns, 1);
	sennit_mutex_unlock(&h->lock);
	sennit_wait_group_done(&h->done);
}

static void await_the_other(struct hog *h)
{
	atomic_fetch_add(&h->present, 1);
	while (atomic_load(&h->present) < 2)
		sched_yield();
}

/* While the hog holds the lock, the neighbours run and wait for it. They do not
 * run again until the guest has had the lock. */
static void be_a_hog(void *argument)
{
	struct hog *h = argument;

	await_the_other(h);
	sennit_mutex_lock(&h->lock);
	for (unsigned i = 0; i < h->neighbours; i++)
		must_schedule_here(be_a_neighbour, h);
	while (atomic_load(&h->queued) < h->neighbours)
		sennit_yield();
	atomic_store(&h->full, true);
	sennit_mutex_unlock(&h->lock);
	while (!atomic_load(&h->served)) {
		sennit_mutex_lock(&h->lock);
		sennit_mutex_unlock(&h->lock);
	}
	sennit_wait_group_done(&h->done);
}

static void be_a_guest(void *argument)
{
	struct hog *h = argument;

	await_the_other(h);
	while (!atomic_load(&h->full))
		sched_yield();
	sennit_mutex_lock(&h->lock);
	atomic_fetch_add(&h->turns, 1);
	atomic_store(&h->served, true);
	sennit_mutex_unlock(&h->lock);
	sennit_wait_group_done(&h->done);
}

static void serve_a_guest(unsigned neighbours, bool as_thread)
{
	struct hog h = { .neighbours = neighbours };
	pthread_t  thread;

	sennit_wait_group_init(&h.done, neighbours + 2);
	must_schedule(be_a_hog, &h);
	if (as_thread)
		thread = start_on_thread(be_a_guest, &h);
	else
		must_schedule(be_a_guest, &h);
	sennit_wait_group_wait(&h.done);
	if (as_thread)
		pthread_join(thread, NULL);
	assert_int_equal(h.turns, neighbours + 1);
	sennit_mutex_destroy(&h.lock);
}

TEST_WITH_SEVERAL(a_fiber_that_never_waits_lets_others_have_it)
{
	serve_a_guest(0, false);
}

/* Symptom: waiters of the hog's own worker, which cannot run, were woken, and
 * those behind them waited for ever. */
TEST_WITH_SEVERAL(waiters_of_its_own_worker_keep_nobody_out)
{
	serve_a_guest(1, false);
	serve_a_guest(8, false);
	serve_a_guest(200, false);
}

TEST_WITH_THREADS(an_unbound_thread_gets_it_from_a_hog)
{
	serve_a_guest(0, true);
	serve_a_guest(8, true);
}

/* --- a waiter that gives up --------------------------------------------- */

struct impatience {
	struct hog        hog;
	sennit_wait_group done;
	atomic_uint       got, missed;
};

static void be_impatient(void *argument)
{
	struct impatience *p = argument;

	for (unsigned i = 0; i < 100; i++) {
		const sennit_time t = sennit_after(i * SENNIT_MICROSECOND);

		if (sennit_mutex_lock_until(&p->hog.lock, t)) {
			atomic_fetch_add(&p->missed, 1);
			continue;
		}
		atomic_fetch_add(&p->got, 1);
		sennit_mutex_unlock(&p->hog.lock);
	}
	sennit_wait_group_done(&p->done);
}

TEST_WITH_SEVERAL(who_gives_up_keeps_nobody_out)
{
	struct impatience p = { .hog = { .neighbours = 4 } };

	sennit_wait_group_init(&p.hog.done, 6);
	sennit_wait_group_init(&p.done, 8);
	must_schedule(be_a_hog, &p.hog);
	must_schedule(be_a_guest, &p.hog);
	for (unsigned i = 0; i < 8; i++)
		must_schedule(be_impatient, &p);
	sennit_wait_group_wait(&p.hog.done);
	sennit_wait_group_wait(&p.done);
	assert_int_equal(p.got + p.missed, 800);
	assert_int_equal(p.hog.turns, 5);
	sennit_mutex_destroy(&p.hog.lock);
}
