/* SPDX-License-Identifier: Apache-2.0 */
/* fib.c - the 32nd Fibonacci number. Each call schedules one of its two halves,
 * computes the other, and waits: pure fork-join cost.
 */
#include "harness.h"
#include "wait_group_fib.h"

#include "sennit/fork_join.h"

#define ARGUMENT 32
#define RESULT   2178309
#define SPAWNS   3524577 /* calls with an argument of 2 or more */

struct branch {
	unsigned argument;
	unsigned result;
};

static int run_branch(void *argument);

/* The same with a group. Its wait runs the other half unless another worker
 * has. */
static unsigned group_fib(unsigned n)
{
	sennit_group  g;
	struct branch other;
	unsigned      result;

	if (n < 2)
		return n;
	other.argument = n - 1;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	if (sennit_group_spawn(&g, run_branch, &other))
		abort();
	result = group_fib(n - 2);
	if (sennit_group_wait(&g))
		abort();
	return result + other.result;
}

static int run_branch(void *argument)
{
	struct branch *b = argument;

	b->result = group_fib(b->argument);
	return 0;
}

static void fork_join_group(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	unsigned    result = group_fib(ARGUMENT);

	bench_elapsed(r, begin);
	bench_check(result == RESULT, "fib: wrong result");
}

static void fork_join(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	unsigned    result = fib(ARGUMENT);

	bench_elapsed(r, begin);
	bench_check(result == RESULT, "fib: wrong result");
}

static void fork_join_tied(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	unsigned    result = tied_fib(ARGUMENT);

	bench_elapsed(r, begin);
	bench_check(result == RESULT, "fib: wrong result");
}

/* The same with the macros of fork_join.h. */
SENNIT_FORK(unsigned, forked_fib, unsigned, n)
{
	unsigned one, other;

	if (n < 2)
		return n;
	SENNIT_FORK_SPAWN(forked_fib, child, n - 1);
	one = SENNIT_FORK_CALL(forked_fib, n - 2);
	other = SENNIT_FORK_SYNC(forked_fib, child);
	return one + other;
}

static void fork_join_inline(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	unsigned    result = SENNIT_FORK_RUN(forked_fib, ARGUMENT);

	bench_elapsed(r, begin);
	bench_check(result == RESULT, "fib: wrong result");
}

/* NOINLINE, because the other variants replace a call. */
static __attribute__((noinline)) unsigned plain_fib(unsigned n)
{
	return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2);
}

static void serial(struct bench_run *r)
{
	/* Volatile, otherwise the compiler computes it at compile time. */
	volatile unsigned argument = ARGUMENT;
	sennit_time       begin = sennit_now();
	unsigned          result = plain_fib(argument);

	bench_elapsed(r, begin);
	bench_check(result == RESULT, "fib: wrong result");
}

const struct bench_row bench_fib[] = {
	{ .names = { "W2-fib/serial" }, .n = SPAWNS, .run = serial },
	BENCH_ROW("W2-fib/wait-group", SPAWNS, BENCH_EACH, fork_join),
	BENCH_ROW("W2-fib/wait-group-spawn", SPAWNS, BENCH_EACH,
		  fork_join_tied),
	BENCH_ROW("W2-fib/group", SPAWNS, BENCH_EACH, fork_join_group),
	{ .names = { "W2-fib/wait-group-shared-fp" },
	  .n = SPAWNS,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .fp = SENNIT_FP_SHARED,
	  .run = fork_join },
	BENCH_ROW("W2-fib/fork", SPAWNS, BENCH_EACH, fork_join_inline),
	{ .run = NULL },
};
