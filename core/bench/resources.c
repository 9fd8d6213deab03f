/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - fork-join in one or all of ten schedulers that share the CPUs,
 * compared with one scheduler alone and with ten that do not share. The total
 * work is always the same. Measures time, and CPU time of all threads, per
 * fork.
 */
#include "harness.h"

#define SCHEDULERS 10
#define FIB        20
#define FORKS      10945 /* calls of fib(20) with an argument of 2 or more */
#define TREES      200   /* in all schedulers together */

static sennit_wait_group ended;

static void grow(void *trees)
{
	for (uintptr_t left = (uintptr_t)trees; left; left--)
		bench_fork_join(FIB);
	sennit_wait_group_done(&ended);
}

/* Run `trees` trees on each of the first `busy` schedulers. */
static void grow_on(sennit_scheduler *const all[], unsigned busy,
		    unsigned trees)
{
	const sennit_task task = { .run = grow,
				   .argument = (void *)(uintptr_t)trees };

	sennit_wait_group_init(&ended, busy);
	for (unsigned i = 0; i < busy; i++)
		bench_check(!sennit_schedule_task_on(all[i], &task), "no task");
	sennit_wait_group_wait(&ended);
}

/* Measure `count` schedulers, of which the first `busy` have work. Each has run
 * something before. */
static void measure(struct bench_run *r, sennit_resources *shared,
		    unsigned count, unsigned busy)
{
	sennit_scheduler *all[SCHEDULERS] = { NULL };
	sennit_time       begin;
	uint64_t          used;

	for (unsigned i = 0; i < count; i++)
		bench_check(
			!sennit_scheduler_create(
				&all[i], SENNIT_CONFIG(.workers = r->workers,
						       .resources = shared)),
			"no scheduler");
	grow_on(all, count, 1);
	begin = sennit_now();
	used = bench_cpu_ns();
	grow_on(all, busy, TREES / busy);
	bench_elapsed(r, begin);
	r->value[1] = (double)(bench_cpu_ns() - used) / (double)r->n;
	for (unsigned i = 0; i < count; i++)
		bench_check(!sennit_scheduler_shutdown(all[i], SENNIT_NEVER),
			    "no shutdown");
}

static void measure_shared(struct bench_run *r, unsigned busy)
{
	sennit_resources *shared;

	bench_check(!sennit_resources_create(&shared, r->workers, NULL),
		    "no resources");
	measure(r, shared, SCHEDULERS, busy);
	sennit_resources_release(shared);
}

static void lone(struct bench_run *r)
{
	measure(r, NULL, 1, 1);
}

static void one_busy(struct bench_run *r)
{
	measure_shared(r, 1);
}

static void all_busy(struct bench_run *r)
{
	measure_shared(r, SCHEDULERS);
}

static void all_busy_unshared(struct bench_run *r)
{
	measure(r, NULL, SCHEDULERS, SCHEDULERS);
}

#define ROW(name, function)                                               \
	{                                                                 \
		.names = { "resources/" name, "resources/" name "-cpu" }, \
		.n = TREES * FORKS, .workers = BENCH_EACH,                \
		.place = BENCH_OUTSIDE, .run = (function)                 \
	}

const struct bench_row bench_resources[] = {
	ROW("lone", lone),
	ROW("one-of-10", one_busy),
	ROW("all-of-10", all_busy),
	ROW("all-of-10-unshared", all_busy_unshared),
	{ .run = NULL },
};
