/* SPDX-License-Identifier: Apache-2.0 */
/* spawn_flat.c - one task schedules a million empty tasks, and waits. */
#include "harness.h"

static sennit_wait_group left;

static void nothing(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&left);
}

static void spawn_pointer(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&left, (uint32_t)r->n);
	for (uint64_t i = 0; i < r->n; i++)
		spawn(nothing, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

/* Tasks scheduled by one call. */
enum { AT_ONCE = 100 };

static void spawn_many(struct bench_run *r)
{
	static sennit_task tasks[AT_ONCE];
	sennit_time        begin;

	for (size_t i = 0; i < AT_ONCE; i++)
		tasks[i] = (sennit_task){ .run = nothing };
	begin = sennit_now();
	sennit_wait_group_init(&left, (uint32_t)r->n);
	for (uint64_t i = 0; i < r->n; i += AT_ONCE)
		if (sennit_schedule_many(tasks, AT_ONCE))
			abort();
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

static void spawn_copy(struct bench_run *r)
{
	static const uint64_t arguments[4];
	sennit_time           begin = sennit_now();

	sennit_wait_group_init(&left, (uint32_t)r->n);
	for (uint64_t i = 0; i < r->n; i++)
		if (sennit_schedule_copy(nothing, arguments, sizeof(arguments)))
			abort();
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

const struct bench_row bench_spawn_flat[] = {
	BENCH_ROW("W1-spawn/pointer", 1000000, BENCH_EACH, spawn_pointer),
	{ .names = { "W1-spawn/pointer-shared-fp" },
	  .n = 1000000,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .fp = SENNIT_FP_SHARED,
	  .run = spawn_pointer },
	BENCH_ROW("W1-spawn/many-100", 1000000, BENCH_EACH, spawn_many),
	BENCH_ROW("W1-spawn/copy-32", 1000000, BENCH_EACH, spawn_copy),
	{ .run = NULL },
};
