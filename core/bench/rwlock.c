/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - a lock and its unlock: by one fiber; by 64 that only read; by 64
 * that write one time in 16, with and without a yield while reading; and the
 * time until n readers that a writer has kept waiting have continued. */
#include "harness.h"

#define FIBERS 64
#define PAIRS  10000
#define YIELDS 500
#define MANY   10000

#define PAIRS_OF_ALL  (UINT64_C(1) * FIBERS * PAIRS)
#define YIELDS_OF_ALL (UINT64_C(1) * FIBERS * YIELDS)

static _Alignas(128) sennit_rwlock rwlock;
static uint64_t counter; /* under rwlock */

static void read_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_rwlock_lock_shared(&rwlock);
		sennit_rwlock_unlock_shared(&rwlock);
	}
	bench_elapsed(r, begin);
}

static void write_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_rwlock_lock(&rwlock);
		sennit_rwlock_unlock(&rwlock);
	}
	bench_elapsed(r, begin);
}

static void read_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		sennit_rwlock_lock_shared(&rwlock);
		sennit_rwlock_unlock_shared(&rwlock);
	}
}

static void write_at_times(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		if (i % 16) {
			sennit_rwlock_lock_shared(&rwlock);
			sennit_rwlock_unlock_shared(&rwlock);
		} else {
			sennit_rwlock_lock(&rwlock);
			counter++;
			sennit_rwlock_unlock(&rwlock);
		}
	}
}

static void read_across_a_yield(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < YIELDS; i++) {
		if (i % 16) {
			sennit_rwlock_lock_shared(&rwlock);
			sennit_yield();
			sennit_rwlock_unlock_shared(&rwlock);
		} else {
			sennit_rwlock_lock(&rwlock);
			counter++;
			sennit_rwlock_unlock(&rwlock);
		}
	}
}

static void in_many(struct bench_run *r, sennit_task_fn *run, uint64_t writes)
{
	counter = 0;
	bench_crowd(r, FIBERS, run, NULL);
	bench_check(counter == FIBERS * writes, "rwlock: lost updates");
}

static void read_together(struct bench_run *r)
{
	in_many(r, read_often, 0);
}

static void mix(struct bench_run *r)
{
	in_many(r, write_at_times, (PAIRS + 15) / 16);
}

static void mix_with_yields(struct bench_run *r)
{
	in_many(r, read_across_a_yield, (YIELDS + 15) / 16);
}

static void read_once(void *unused)
{
	(void)unused;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
}

static void stop_writing(void *unused)
{
	(void)unused;
	sennit_rwlock_unlock(&rwlock);
}

static void release_many(struct bench_run *r)
{
	sennit_rwlock_lock(&rwlock);
	bench_release(r, read_once, stop_writing, NULL);
}

const struct bench_row bench_rwlock[] = {
	BENCH_ROW("rwlock/read-uncontended", 1000000, BENCH_TWO, read_alone),
	BENCH_ROW("rwlock/write-uncontended", 1000000, BENCH_TWO, write_alone),
	BENCH_ROW("rwlock/64-readers", PAIRS_OF_ALL, BENCH_EACH, read_together),
	BENCH_ROW("rwlock/64-one-in-16-writes", PAIRS_OF_ALL, BENCH_EACH, mix),
	BENCH_ROW("rwlock/64-read-across-yield", YIELDS_OF_ALL, BENCH_EACH,
		  mix_with_yields),
	BENCH_ROW("rwlock/release-many", MANY, BENCH_EACH, release_many),
	{ .run = NULL },
};
