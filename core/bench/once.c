/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - calls of a once: one that is done, one that is not, and one that is
 * done by 64 fibers at once; and the time until n fibers that wait for the
 * running caller have continued. */
#include "harness.h"

#define FIBERS 64
#define CALLS  100000
#define MANY   10000

#define CALLS_OF_ALL (UINT64_C(1) * FIBERS * CALLS)

static _Alignas(128) sennit_once once;
static sennit_event go_on;

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
}

static void call_together(struct bench_run *r)
{
	sennit_once_init(&once);
	bench_crowd(r, FIBERS, call_often, NULL);
}

static void do_slowly(void *unused)
{
	(void)unused;
	(void)!sennit_event_wait(&go_on);
}

static void call_one(void *unused)
{
	sennit_once_call(&once, do_slowly, unused);
}

static void let_go(void *unused)
{
	(void)unused;
	sennit_event_set(&go_on);
}

static void release_many(struct bench_run *r)
{
	sennit_once_init(&once);
	sennit_event_init(&go_on, SENNIT_EVENT_MANUAL);
	bench_release(r, call_one, let_go, NULL);
}

const struct bench_row bench_once[] = {
	BENCH_ROW("once/done", 10000000, BENCH_TWO, call_done),
	BENCH_ROW("once/first", 1000000, BENCH_TWO, call_first),
	BENCH_ROW("once/64-fibers-done", CALLS_OF_ALL, BENCH_EACH,
		  call_together),
	BENCH_ROW("once/release-many", MANY, BENCH_EACH, release_many),
	{ .run = NULL },
};
