/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - local values of tasks: get, set, and a task that has one. */
#include "harness.h"

#define TIMES 4000000u
#define TASKS 400000u

static sennit_local_key  key;
static sennit_wait_group left;

static void make_key(void)
{
	static bool made;

	bench_check(made || !sennit_local_key_create(&key, NULL),
		    "local: no key");
	made = true;
}

static void get(struct bench_run *r)
{
	uint32_t    found = 0;
	sennit_time begin;

	make_key();
	bench_check(!sennit_local_set(key, r), "local: no memory");
	begin = sennit_now();
	for (uint32_t i = 0; i < TIMES; i++)
		found += sennit_local_get(key) == r;
	bench_elapsed(r, begin);
	bench_check(found == TIMES, "local: a value was lost");
}

static void set(struct bench_run *r)
{
	sennit_time begin;
	int         err = 0;

	make_key();
	begin = sennit_now();
	for (uint32_t i = 0; i < TIMES; i++)
		err |= sennit_local_set(key, r);
	bench_elapsed(r, begin);
	bench_check(!err && sennit_local_get(key) == r, "local: not set");
}

static void set_one(void *unused)
{
	bench_check(!sennit_local_set(key, &left), "local: no memory");
	sennit_wait_group_done(&left);
	(void)unused;
}

static void tasks(struct bench_run *r)
{
	sennit_time begin;

	make_key();
	begin = sennit_now();
	sennit_wait_group_init(&left, TASKS);
	for (uint32_t i = 0; i < TASKS; i++)
		spawn(set_one, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

static void name_oneself(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint32_t i = 0; i < TIMES; i++)
		sennit_task_set_name("request 42");
	bench_elapsed(r, begin);
}

const struct bench_row bench_local[] = {
	BENCH_ROW("local/get", TIMES, BENCH_EACH, get),
	BENCH_ROW("local/set", TIMES, BENCH_EACH, set),
	BENCH_ROW("local/task-with-one", TASKS, BENCH_EACH, tasks),
	BENCH_ROW("local/set-name", TIMES, BENCH_EACH, name_oneself),
	{ .run = NULL },
};
