/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_contended.c - locks and unlocks one mutex: by one fiber, and by 64; and
 * the time until n waiters have had it. */
#include "harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define FIBERS     64
#define THREADS    8
#define PAIRS      10000
#define FAIR_TURNS 1000
#define MANY       10000

static _Alignas(128) sennit_mutex mutex;
static uint64_t counter; /* under mutex */

static void lock_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_mutex_lock(&mutex);
		sennit_mutex_unlock(&mutex);
	}
	bench_elapsed(r, begin);
}

static void lock_and_unlock(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		sennit_mutex_lock(&mutex);
		counter++;
		sennit_mutex_unlock(&mutex);
	}
}

static void contend(struct bench_run *r)
{
	counter = 0;
	bench_crowd(r, FIBERS, lock_and_unlock, NULL);
	bench_check(counter == r->n, "mutex: lost updates");
}

static void lock_once(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&mutex);
	counter++;
	sennit_mutex_unlock(&mutex);
}

static void unlock(void *unused)
{
	(void)unused;
	sennit_mutex_unlock(&mutex);
}

static void release_many(struct bench_run *r)
{
	counter = 0;
	sennit_mutex_lock(&mutex);
	bench_release(r, lock_once, unlock, NULL);
	bench_check(counter == r->n, "mutex: lost updates");
}

/* --- fairness ----------------------------------------------------------- */

static struct {
	sennit_wait_group done;
	_Atomic uint64_t  grants;  /* written under mutex */
	uint64_t          longest; /* under mutex: most grants to others during
				    * one wait */
} fair;

/* Every sixteenth turn is held across a wait. */
static void take_turns(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < FAIR_TURNS; i++) {
		uint64_t before = atomic_load(&fair.grants), passed;

		sennit_mutex_lock(&mutex);
		passed = atomic_fetch_add(&fair.grants, 1) - before;
		if (passed > fair.longest)
			fair.longest = passed;
		if (i % 16 == 0)
			sennit_yield();
		sennit_mutex_unlock(&mutex);
	}
	sennit_wait_group_done(&fair.done);
}

static void *take_turns_as_thread(void *unused)
{
	take_turns(unused);
	return NULL;
}

static void be_fair(struct bench_run *r)
{
	pthread_t   threads[THREADS];
	sennit_time begin = sennit_now();

	fair.longest = 0;
	atomic_store(&fair.grants, 0);
	sennit_wait_group_init(&fair.done, FIBERS + THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		bench_check(!pthread_create(&threads[i], NULL,
					    take_turns_as_thread, NULL),
			    "mutex: no thread");
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(take_turns, NULL);
	sennit_wait_group_wait(&fair.done);
	bench_elapsed(r, begin);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	bench_check(atomic_load(&fair.grants) == r->n, "mutex: lost grants");
	r->value[1] = (double)fair.longest;
}

const struct bench_row bench_mutex_contended[] = {
	BENCH_ROW("W7-mutex/64-fibers", FIBERS *PAIRS, BENCH_EACH, contend),
	BENCH_ROW("mutex/uncontended", 10000000, BENCH_TWO, lock_alone),
	BENCH_ROW("mutex/release-many", MANY, BENCH_EACH, release_many),
	{ .names = { "W7b-mutex/64-fibers-8-threads", "W7b-mutex/passed-over" },
	  .n = (FIBERS + THREADS) * FAIR_TURNS,
	  .workers = BENCH_COUNTS,
	  .place = BENCH_INSIDE,
	  .run = be_fair },
	{ .run = NULL },
};
