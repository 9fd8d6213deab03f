/* SPDX-License-Identifier: Apache-2.0 */
/* block_many.c - n fibers wait for one event: the time until the last one waits
 * (including the spawns), the memory that they use then, and the time from one
 * set until each has continued.
 */
#include "harness.h"

#include <math.h>

static sennit_event      gate;
static sennit_wait_group arriving;
static sennit_wait_group leaving;

static void block(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&arriving);
	(void)!sennit_event_wait(&gate);
	sennit_wait_group_done(&leaving);
}

static double per_operation(const struct bench_run *r, uint64_t total)
{
	return (double)total / (double)r->n;
}

static void block_all(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_event_init(&gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&arriving, (uint32_t)r->n);
	sennit_wait_group_init(&leaving, (uint32_t)r->n);
	for (uint64_t i = 0; i < r->n; i++)
		spawn(block, NULL);
	sennit_wait_group_wait(&arriving);
	r->value[0] = per_operation(r, sennit_now() - begin);
}

static void wake_all(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_event_set(&gate);
	sennit_wait_group_wait(&leaving);
	r->value[1] = per_operation(r, sennit_now() - begin);
}

static void block_and_wake(struct bench_run *r)
{
	uint64_t before = bench_resident();
	uint64_t after;

	block_all(r);
	after = bench_resident();
	wake_all(r);
	r->value[2] = NAN;
	if (after > before)
		r->bytes = per_operation(r, after - before);
}

/* A new scheduler per run, whose stacks are untouched. */
static void first_touch(struct bench_run *r)
{
	bench_inside(block_and_wake, r);
}

/* Reuses the stacks of the warm-up. */
static void recycled(struct bench_run *r)
{
	block_all(r);
	wake_all(r);
}

/* clang-format off */
#define FIRST(count)                                                        \
	{ .names = { "W6a-block/first-touch", "W6c-wake/first-touch",        \
		     "W6b-memory/per-fiber" },                              \
	  .n = (count), .workers = BENCH_EACH, .place = BENCH_OUTSIDE,       \
	  .run = first_touch, .memory = (count) * UINT64_C(8192) }
#define RECYCLED(count)                                                     \
	{ .names = { "W6a-block/recycled", "W6c-wake/recycled" },            \
	  .n = (count), .workers = BENCH_EACH, .place = BENCH_INSIDE,        \
	  .run = recycled, .memory = (count) * UINT64_C(8192) }
/* clang-format on */

const struct bench_row bench_block_many[] = {
	FIRST(10000),     FIRST(100000),     FIRST(1000000),  RECYCLED(10000),
	RECYCLED(100000), RECYCLED(1000000), { .run = NULL },
};
