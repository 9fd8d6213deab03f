/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - a call: of one that is done, of one that is not, by 64 fibers at
 * once of one that is done; and what it takes until n fibers that wait for the
 * one who does it have run. */
#include "harness.h"

#define FIBERS 64
#define CALLS  100000
#define MANY   10000

#define CALLS_OF_ALL (UINT64_C(1) * FIBERS * CALLS)

static _Alignas(128) sennit_once once;
static sennit_event      go_on;
static sennit_wait_group arriving;
static sennit_wait_group left;

static void do_nothing(void *unused)
{
	(void)unused;
}

static void call_done(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++)
		sennit_once_call(&once, do_nothing, NULL);
	bench_elapsed(r, begin);
}

static void call_first(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_once_init(&once);
		sennit_once_call(&once, do_nothing, NULL);
	}
	bench_elapsed(r, begin);
}

static void call_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < CALLS; i++)
		sennit_once_call(&once, do_nothing, NULL);
	sennit_wait_group_done(&left);
}

static void call_together(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	sennit_once_init(&once);
	sennit_wait_group_init(&left, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		spawn(call_often, NULL);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

static void do_slowly(void *unused)
{
	(void)unused;
	sennit_event_wait(&go_on);
}

static void call_one(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&arriving);
	sennit_once_call(&once, do_slowly, NULL);
	sennit_wait_group_done(&left);
}

static void release_many(struct bench_run *r)
{
	sennit_time begin;

	sennit_once_init(&once);
	sennit_event_init(&go_on, SENNIT_EVENT_MANUAL, false);
	sennit_wait_group_init(&arriving, MANY);
	sennit_wait_group_init(&left, MANY);
	for (unsigned i = 0; i < MANY; i++)
		spawn(call_one, NULL);
	sennit_wait_group_wait(&arriving);
	begin = sennit_now();
	sennit_event_set(&go_on);
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

#define ROW(name, count, who, function)                            \
	{                                                          \
		.names = { name }, .n = (count), .workers = (who), \
		.place = BENCH_INSIDE, .run = (function)           \
	}

const struct bench_row bench_once[] = {
	ROW("once/done", 10000000, BENCH_TWO, call_done),
	ROW("once/first", 1000000, BENCH_TWO, call_first),
	ROW("once/64-fibers-done", CALLS_OF_ALL, BENCH_EACH, call_together),
	ROW("once/release-many", MANY, BENCH_EACH, release_many),
	{ .run = NULL },
};
