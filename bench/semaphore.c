/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - a take and its give: by one fiber, by 64 for 4 permits; and
 * what it takes until each of n waiting fibers, served by one give, has run. */
#include "harness.h"

#define FIBERS 64
#define PAIRS  2000
#define MANY   10000

static _Alignas(128) sennit_semaphore semaphore;
static sennit_wait_group arriving;
static sennit_wait_group left;

static void take_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_semaphore_init(&semaphore, 1);
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_semaphore_take(&semaphore, 1);
		sennit_semaphore_give(&semaphore, 1);
	}
	bench_elapsed(r, begin);
}

static void take_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		sennit_semaphore_take(&semaphore, 1);
		sennit_semaphore_give(&semaphore, 1);
	}
	sennit_wait_group_done(&left);
}

static void contend(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_semaphore_init(&semaphore, 4);
	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(take_often, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	bench_check(sennit_semaphore_count(&semaphore) == 4,
		    "semaphore: permits lost or made");
}

static void take_one(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&arriving);
	sennit_semaphore_take(&semaphore, 1);
	sennit_wait_group_done(&left);
}

static void serve_many(struct bench_run *r)
{
	sennit_time begin;

	sennit_semaphore_init(&semaphore, 0);
	sennit_wait_group_init(&arriving, MANY);
	sennit_wait_group_init(&left, MANY);
	for (unsigned i = 0; i < MANY; i++)
		spawn(take_one, NULL);
	sennit_wait_group_wait(&arriving);
	begin = sennit_now();
	sennit_semaphore_give(&semaphore, MANY);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

const struct bench_row bench_semaphore[] = {
	{ .names = { "semaphore/uncontended" },
	  .n = 1000000,
	  .workers = BENCH_TWO,
	  .place = BENCH_INSIDE,
	  .run = take_alone },
	{ .names = { "semaphore/64-fibers-4-permits" },
	  .n = FIBERS * PAIRS,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = contend },
	{ .names = { "semaphore/give-to-many" },
	  .n = MANY,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = serve_many },
	{ .run = NULL },
};
