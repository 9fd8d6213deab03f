/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - mutual exclusion for fibers and threads; deadlines; no
 * starvation. */
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

static void a_free_mutex_is_taken_at_once(void **state)
{
	(void)state;
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

static void waiting_for_a_held_one_times_out(void **state)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)state;
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

static void one_holds_it_at_a_time(void **state)
{
	struct ledger l = { .rounds = 300 };
	pthread_t     threads[4];
	unsigned      i;

	(void)state;
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
static void it_may_be_held_across_a_wait(void **state)
{
	struct ledger l = { .rounds = 0 };
	unsigned      i;

	(void)state;
	sennit_wait_group_init(&l.done, 50);
	for (i = 0; i < 50; i++)
		must_schedule(hold_while_sleeping, &l);
	sennit_wait_group_wait(&l.done);
	assert_int_equal(l.sum, 50);
}

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

static void a_waiter_gets_it_however_often_others_take_it(void **state)
{
	struct greed g = { .served = false };
	unsigned     i;

	(void)state;
	sennit_wait_group_init(&g.done, 5);
	for (i = 0; i < 4; i++)
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

static void an_unbound_thread_gets_it_from_greedy_fibers(void **state)
{
	struct greed g = { .served = false };

	(void)state;
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
	unsigned    i;

	await_the_other(h);
	sennit_mutex_lock(&h->lock);
	for (i = 0; i < h->neighbours; i++)
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

static void *be_a_guest_as_thread(void *argument)
{
	be_a_guest(argument);
	return NULL;
}

static void serve_a_guest(unsigned neighbours, bool as_thread)
{
	struct hog h = { .neighbours = neighbours };
	pthread_t  thread;

	sennit_wait_group_init(&h.done, neighbours + 2);
	must_schedule(be_a_hog, &h);
	if (as_thread)
		thread = must_start_thread(be_a_guest_as_thread, &h);
	else
		must_schedule(be_a_guest, &h);
	sennit_wait_group_wait(&h.done);
	if (as_thread)
		pthread_join(thread, NULL);
	assert_int_equal(h.turns, neighbours + 1);
	sennit_mutex_destroy(&h.lock);
}

static void a_fiber_that_never_waits_lets_others_have_it(void **state)
{
	(void)state;
	serve_a_guest(0, false);
}

/* Symptom: waiters of the hog's own worker, which cannot run, were woken, and
 * those behind them waited for ever. */
static void waiters_of_its_own_worker_keep_nobody_out(void **state)
{
	(void)state;
	serve_a_guest(1, false);
	serve_a_guest(8, false);
	serve_a_guest(200, false);
}

static void an_unbound_thread_gets_it_from_a_hog(void **state)
{
	(void)state;
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
	unsigned           i;

	for (i = 0; i < 100; i++) {
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

static void who_gives_up_keeps_nobody_out(void **state)
{
	struct impatience p = { .hog = { .neighbours = 4 } };
	unsigned          i;

	(void)state;
	sennit_wait_group_init(&p.hog.done, 6);
	sennit_wait_group_init(&p.done, 8);
	must_schedule(be_a_hog, &p.hog);
	must_schedule(be_a_guest, &p.hog);
	for (i = 0; i < 8; i++)
		must_schedule(be_impatient, &p);
	sennit_wait_group_wait(&p.hog.done);
	sennit_wait_group_wait(&p.done);
	assert_int_equal(p.got + p.missed, 800);
	assert_int_equal(p.hog.turns, 5);
	sennit_mutex_destroy(&p.hog.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(a_free_mutex_is_taken_at_once),
		WITH_WORKERS(waiting_for_a_held_one_times_out),
		WITH_WORKERS(one_holds_it_at_a_time),
		WITH_WORKERS(it_may_be_held_across_a_wait),
		WITH_WORKERS(a_waiter_gets_it_however_often_others_take_it),
		WITH_WORKERS(an_unbound_thread_gets_it_from_greedy_fibers),
		WITH_SEVERAL(a_fiber_that_never_waits_lets_others_have_it),
		WITH_SEVERAL(waiters_of_its_own_worker_keep_nobody_out),
		WITH_THREADS(an_unbound_thread_gets_it_from_a_hog),
		WITH_SEVERAL(who_gives_up_keeps_nobody_out),
	};

	return cmocka_run_group_tests_name("api/mutex", tests, NULL, NULL);
}
