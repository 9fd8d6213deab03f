/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - an arrival: of a single party, of 2 and of 64 in repeated rounds,
 * and of 10,000 in one phase. */
#include "harness.h"

#define PHASES 5000 /* of two parties */
#define ROUNDS 500  /* of 64 parties */
#define MANY   10000

static _Alignas(128) sennit_barrier barrier;
static unsigned          phases; /* fixed during a run */
static unsigned          last;   /* written by the last party */
static sennit_wait_group left;

static void arrive_alone(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_barrier_init(&barrier, 1);
	for (uint64_t i = 0; i < r->n; i++)
		(void)sennit_barrier_wait(&barrier);
	bench_elapsed(r, begin);
}

static void arrive_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < phases; i++)
		if (sennit_barrier_wait(&barrier))
			last++;
	sennit_wait_group_done(&left);
}

static void arrive_together(struct bench_run *r, uint32_t parties)
{
	sennit_time begin = sennit_now();

	phases = (unsigned)(r->n / parties);
	last = 0;
	sennit_barrier_init(&barrier, parties);
	sennit_wait_group_init(&left, parties);
	for (uint32_t i = 0; i < parties; i++)
		spawn(arrive_often, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
	bench_check(last == phases, "barrier: lost phases");
}

static void two(struct bench_run *r)
{
	arrive_together(r, 2);
}

static void sixty_four(struct bench_run *r)
{
	arrive_together(r, 64);
}

static void many(struct bench_run *r)
{
	arrive_together(r, MANY);
}

const struct bench_row bench_barrier[] = {
	BENCH_ROW("barrier/uncontended", 1000000, BENCH_TWO, arrive_alone),
	BENCH_ROW("barrier/2-parties", 2 * PHASES, BENCH_EACH, two),
	BENCH_ROW("barrier/64-parties", 64 * ROUNDS, BENCH_EACH, sixty_four),
	BENCH_ROW("barrier/10000-parties", MANY, BENCH_EACH, many),
	{ .run = NULL },
};
