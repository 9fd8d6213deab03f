/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.c - how often tasks move from one worker to another, and how often
 * workers fall asleep. Apart from data that the tasks share, these are the only
 * times when workers write to cache lines that others use. Prints counts per
 * million tasks, not times.
 */
#include "harness.h"

#define SPAWNED 1000000
#define FIB     27
#define FORKED  317810 /* calls of fib(27) with an argument of 2 or more */

static sennit_wait_group left;

static sennit_stats count(void)
{
	sennit_stats now = { .size = sizeof(now) };

	sennit_scheduler_get_stats(sennit_scheduler_current(), &now);
	return now;
}

static void report(struct bench_run *r, const sennit_stats *before)
{
	sennit_stats now = count();
	double       millions = (double)r->n / 1e6;

	r->value[0] = (double)(now.steals - before->steals) / millions;
	r->value[1] = (double)(now.parks - before->parks) / millions;
}

static void nothing(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&left);
}

static void spawn_flat(struct bench_run *r)
{
	sennit_stats before = count();

	sennit_wait_group_init(&left, (uint32_t)r->n);
	for (uint64_t i = 0; i < r->n; i++)
		spawn(nothing, NULL);
	sennit_wait_group_wait(&left);
	report(r, &before);
}

static void fork_join(struct bench_run *r)
{
	sennit_stats before = count();

	bench_fork_join(FIB);
	report(r, &before);
}

const struct bench_row bench_sharing[] = {
	{ .names = { "sharing/spawn-flat-steals", "sharing/spawn-flat-parks" },
	  .n = SPAWNED,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = spawn_flat },
	{ .names = { "sharing/fork-join-steals", "sharing/fork-join-parks" },
	  .n = FORKED,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = fork_join },
	{ .run = NULL },
};
