/* SPDX-License-Identifier: Apache-2.0 */
/* future.c - results that are available, that come later, and that many wait
 * for. */
#include "harness.h"

#define ROUNDS  1000000
#define CALLS   200000
#define WAITERS 10000
#define CHOICES 8

static sennit_future future;

/* Set, then get, without a wait. */
static void ready(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uintptr_t   sum = 0;
	void       *value = NULL;

	for (uintptr_t i = 0; i < r->n; i++) {
		sennit_future_init(&future);
		sennit_future_set(&future, (void *)i);
		if (!sennit_future_get(&future, &value))
			sum += (uintptr_t)value;
	}
	bench_elapsed(r, begin);
	bench_check(sum == r->n * (r->n - 1) / 2, "future: lost values");
}

static int pass(void *argument, void **value)
{
	*value = argument;
	return 0;
}

/* One at a time: the caller waits for each. */
static void call(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uintptr_t   sum = 0;
	void       *value = NULL;

	for (uintptr_t i = 0; i < r->n; i++) {
		sennit_future_init(&future);
		bench_check(!sennit_future_spawn(&future, pass, (void *)i),
			    "future: no task");
		if (!sennit_future_get(&future, &value))
			sum += (uintptr_t)value;
	}
	bench_elapsed(r, begin);
	bench_check(sum == r->n * (r->n - 1) / 2, "future: lost values");
}

static sennit_future choices[CHOICES];

/* The same, as the last of eight futures that the caller waits for. */
static void call_any(struct bench_run *r)
{
	sennit_future *list[CHOICES];
	sennit_time    begin = sennit_now();
	uint64_t       sum = 0;
	size_t         which;

	for (unsigned c = 0; c < CHOICES; c++)
		list[c] = &choices[c];
	for (uint64_t i = 0; i < r->n; i++) {
		sennit_future *last = list[CHOICES - 1];

		sennit_future_init(last);
		bench_check(!sennit_future_spawn(last, pass, NULL),
			    "future: no task");
		if (!sennit_future_wait_any(list, CHOICES, &which))
			sum += which;
	}
	bench_elapsed(r, begin);
	bench_check(sum == r->n * (CHOICES - 1), "future: the wrong one");
}

static sennit_continuation sequel;

static void count(void *argument, void *value, int error)
{
	(void)value;
	(void)error;
	++*(uint64_t *)argument;
}

static void then_inline(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    ran = 0;

	for (uint64_t i = 0; i < r->n; i++) {
		sennit_future_init(&future);
		sequel.run = count;
		sequel.argument = &ran;
		sequel.flags = SENNIT_CONTINUATION_INLINE;
		sennit_future_then(&future, &sequel);
		sennit_future_set(&future, NULL);
	}
	bench_elapsed(r, begin);
	bench_check(ran == r->n, "future: lost continuations");
}

static void wait_for_it(void *unused)
{
	(void)unused;
	(void)!sennit_future_wait(&future);
}

static void set_it(void *unused)
{
	(void)unused;
	sennit_future_set(&future, NULL);
}

static void release_many(struct bench_run *r)
{
	sennit_future_init(&future);
	bench_release(r, wait_for_it, set_it, NULL);
}

const struct bench_row bench_future[] = {
	BENCH_ROW("future/set+get", ROUNDS, BENCH_EACH, ready),
	BENCH_ROW("future/async+get", CALLS, BENCH_EACH, call),
	BENCH_ROW("future/async+any-of-8", CALLS, BENCH_EACH, call_any),
	BENCH_ROW("future/then-inline", ROUNDS, BENCH_EACH, then_inline),
	BENCH_ROW("future/10k-waiters", WAITERS, BENCH_EACH, release_many),
	{ .run = NULL },
};
