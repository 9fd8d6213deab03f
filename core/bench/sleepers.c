/* SPDX-License-Identifier: Apache-2.0 */
/* sleepers.c - 100,000 fibers sleep once each, for 1 to 1000 ms (uniform): CPU
 * time per sleep, and how late they wake.
 */
#include "harness.h"

#define FIBERS 100000

static sennit_wait_group left;
static uint64_t          late[FIBERS];

/* A different delay for each fiber, the same in every run. The factor is
 * coprime to the number of steps, so each step occurs equally often. */
static uint64_t delay_of(size_t fiber)
{
	return SENNIT_MILLISECOND + (fiber * 7919 % FIBERS) * 9990;
}

static void sleep_once(void *argument)
{
	uint64_t   *mine = argument;
	sennit_time due = sennit_after(delay_of((size_t)(mine - late)));

	sennit_sleep_until(due);
	*mine = sennit_now() - due;
	sennit_wait_group_done(&left);
}

static void sleep_all(struct bench_run *r)
{
	uint64_t cpu = bench_cpu_ns();

	sennit_wait_group_init(&left, FIBERS);
	for (size_t i = 0; i < FIBERS; i++)
		spawn(sleep_once, &late[i]);
	sennit_wait_group_wait(&left);
	r->value[0] = (double)(bench_cpu_ns() - cpu) / FIBERS;
	r->value[1] = bench_percentile(late, FIBERS, 50);
	r->value[2] = bench_percentile(late, FIBERS, 99);
}

const struct bench_row bench_sleepers[] = {
	{ .names = { "W8-sleep/cpu", "W8-sleep/late-p50", "W8-sleep/late-p99" },
	  .n = FIBERS,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = sleep_all },
	{ .run = NULL },
};
