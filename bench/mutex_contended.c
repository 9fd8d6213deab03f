/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_contended.c - lock and unlock one mutex: by one fiber, by 64; and what
 * it takes until n that wait for it have had it. */
#include "harness.h"

#define FIBERS 64
#define PAIRS  10000
#define MANY   10000

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

const struct bench_row bench_mutex_contended[] = {
	BENCH_ROW("W7-mutex/64-fibers", FIBERS *PAIRS, BENCH_EACH, contend),
	BENCH_ROW("mutex/uncontended", 10000000, BENCH_TWO, lock_alone),
	BENCH_ROW("mutex/release-many", MANY, BENCH_EACH, release_many),
	{ .run = NULL },
};
