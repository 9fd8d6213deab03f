/* SPDX-License-Identifier: Apache-2.0 */
/* priority.c - background tasks: the cost to schedule one, and to run one. */
#include "harness.h"

#define TASKS 200000u

static sennit_wait_group left;

static void nothing(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&left);
}

static void spawn_late(void)
{
	const sennit_task task = { .run = nothing,
				   .flags = SENNIT_TASK_BACKGROUND };

	bench_check(!sennit_schedule_task(&task), "priority: not scheduled");
}

/* value[0]: until all are scheduled; value[1]: until all have run. */
static void submit(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&left, TASKS);
	for (uint32_t i = 0; i < TASKS; i++)
		spawn_late();
	r->value[0] = (double)(sennit_now() - begin) / TASKS;
	sennit_wait_group_wait(&left);
	r->value[1] = (double)(sennit_now() - begin) / TASKS;
}

/* Normal tasks while a background task is always waiting. */
static void beside(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_wait_group_init(&left, TASKS + 100);
	for (uint32_t i = 0; i < 100; i++)
		spawn_late();
	for (uint32_t i = 0; i < TASKS; i++)
		spawn(nothing, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

const struct bench_row bench_priority[] = {
	{ .names = { "priority/background-submit", "priority/background-run" },
	  .n = TASKS,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = submit },
	BENCH_ROW("priority/beside-background", TASKS, BENCH_EACH, beside),
	{ .run = NULL },
};
