/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - a take and its give: by one fiber, and by 64 with 4 permits;
 * and the time until each of n waiting fibers, served by one give, has
 * continued. */
#include "harness.h"

#define FIBERS 64
#define PAIRS  2000
#define MANY   10000

static _Alignas(128) sennit_semaphore semaphore;

static void take_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_semaphore_init(&semaphore, 1);
	for (uint64_t i = 0; i < r->n; i++) {
		(void)!sennit_semaphore_acquire(&semaphore, 1);
		sennit_semaphore_release(&semaphore, 1);
	}
	bench_elapsed(r, begin);
}

static void take_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		(void)!sennit_semaphore_acquire(&semaphore, 1);
		sennit_semaphore_release(&semaphore, 1);
	}
}

static void contend(struct bench_run *r)
{
	sennit_semaphore_init(&semaphore, 4);
	bench_crowd(r, FIBERS, take_often, NULL);
	bench_check(sennit_semaphore_count(&semaphore) == 4,
		    "semaphore: permits lost or made");
}

static void take_one(void *unused)
{
	(void)unused;
	(void)!sennit_semaphore_acquire(&semaphore, 1);
}

static void give_all(void *unused)
{
	(void)unused;
	sennit_semaphore_release(&semaphore, MANY);
}

static void serve_many(struct bench_run *r)
{
	sennit_semaphore_init(&semaphore, 0);
	bench_release(r, take_one, give_all, NULL);
}

const struct bench_row bench_semaphore[] = {
	BENCH_ROW("semaphore/uncontended", 1000000, BENCH_TWO, take_alone),
	BENCH_ROW("semaphore/64-fibers-4-permits", FIBERS *PAIRS, BENCH_EACH,
		  contend),
	BENCH_ROW("semaphore/give-to-many", MANY, BENCH_EACH, serve_many),
	{ .run = NULL },
};
