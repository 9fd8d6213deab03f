/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - an add and a done: by one fiber, which also waits; by 64; and
 * the time until n waiters for the last done have continued. */
#include "harness.h"

#define FIBERS 64
#define PAIRS  10000
#define MANY   10000

static _Alignas(128) sennit_wait_group group;

static void alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&group, 0);
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_wait_group_add(&group, 1);
		sennit_wait_group_done(&group);
		sennit_wait_group_wait(&group);
	}
	bench_elapsed(r, begin);
}

static void come_and_go(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		sennit_wait_group_add(&group, 1);
		sennit_wait_group_done(&group);
	}
}

static void contend(struct bench_run *r)
{
	sennit_wait_group_init(&group, 1);
	bench_crowd(r, FIBERS, come_and_go, NULL);
	sennit_wait_group_done(&group);
}

static void wait_for_all(void *unused)
{
	(void)unused;
	sennit_wait_group_wait(&group);
}

static void end(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&group);
}

static void release_many(struct bench_run *r)
{
	sennit_wait_group_init(&group, 1);
	bench_release(r, wait_for_all, end, NULL);
}

const struct bench_row bench_wait_group[] = {
	BENCH_ROW("wait-group/uncontended", 10000000, BENCH_TWO, alone),
	BENCH_ROW("wait-group/64-fibers", FIBERS *PAIRS, BENCH_EACH, contend),
	BENCH_ROW("wait-group/release-many", MANY, BENCH_EACH, release_many),
	{ .run = NULL },
};
