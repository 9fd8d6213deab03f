/* SPDX-License-Identifier: Apache-2.0 */
/* lace.c - Lace: fork-join on deques that hold tasks and their arguments.
 *
 * Left out: all that waits for something else than a task, because a Lace task
 * cannot be suspended; tasks from outside, because RUN waits for the task.
 */
#include "peer.h"

#include <lace.h>

/* W1 has all tasks on the deque at once, and the tree 2000. */
enum { DEQUE = SPAWNED + 1000 };

const char *peer_version(void)
{
	return "Lace 1.3.0, " BENCH_COMPILER;
}

/* One process runs each row, so the number of workers stays. */
static void start(const struct bench_run *r)
{
	static bool started;

	if (!started)
		lace_start(r->workers, DEQUE);
	started = true;
}

/* --- spawn and join ------------------------------------------------------- */

VOID_TASK_0(nothing)
{
	__asm__ volatile("");
}

VOID_TASK_1(spawn_all, uint64_t, n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		SPAWN(nothing);
	for (i = 0; i < n; i++)
		SYNC(nothing);
}

static void spawn_flat(struct bench_run *r)
{
	sennit_time begin;

	start(r);
	begin = sennit_now();
	RUN(spawn_all, r->n);
	bench_elapsed(r, begin);
}

TASK_1(unsigned, fib, unsigned, n)
{
	unsigned mine;

	if (n < 2)
		return n;
	SPAWN(fib, n - 1);
	mine = CALL(fib, n - 2);
	return mine + SYNC(fib);
}

static void fork_join(struct bench_run *r)
{
	sennit_time begin;
	unsigned    result;

	start(r);
	begin = sennit_now();
	result = RUN(fib, FIB);
	bench_elapsed(r, begin);
	bench_check(result == FIB_RESULT, "fib: wrong result");
}

TASK_2(uint64_t, sum_of, uint64_t, first, uint64_t, leaves)
{
	uint64_t sum = 0;

	if (leaves == 1)
		return first;
	leaves /= SKY_FAN_OUT;
	for (unsigned i = 0; i < SKY_FAN_OUT; i++)
		SPAWN(sum_of, first + i * leaves, leaves);
	for (unsigned i = 0; i < SKY_FAN_OUT; i++)
		sum += SYNC(sum_of);
	return sum;
}

static void skynet(struct bench_run *r)
{
	sennit_time begin;
	uint64_t    sum;

	start(r);
	begin = sennit_now();
	sum = RUN(sum_of, 0, SKY_LEAVES);
	bench_elapsed(r, begin);
	bench_check(sum == SKY_RESULT, "skynet: wrong sum");
}

/* --- trees ---------------------------------------------------------------- */

TASK_2(uint64_t, count_node, uint64_t, number, unsigned, children)
{
	uint64_t sum = 1;

	for (unsigned i = 0; i < children; i++) {
		uint64_t child = child_of(number, i);

		SPAWN(count_node, child, is_fertile(child) ? TREE_CHILDREN : 0);
	}
	for (unsigned i = 0; i < children; i++)
		sum += SYNC(count_node);
	return sum;
}

static void tree(struct bench_run *r)
{
	sennit_time begin;
	uint64_t    count;

	start(r);
	begin = sennit_now();
	count = RUN(count_node, root_of_tree(), TREE_AT_ROOT);
	bench_elapsed(r, begin);
	bench_check(count == TREE_NODES, "unbalanced tree: wrong count");
}

TASK_3(uint64_t, solve, uint32_t, columns, uint32_t, left, uint32_t, right)
{
	const struct board b = { columns, left, right };
	uint64_t           solutions = is_solved(&b);
	unsigned           placed = 0;

	for (uint32_t free = free_of(&b); free; free &= free - 1, placed++) {
		struct board next = place(&b, free & -free);

		SPAWN(solve, next.columns, next.left, next.right);
	}
	for (; placed > 0; placed--)
		solutions += SYNC(solve);
	return solutions;
}

static void queens(struct bench_run *r)
{
	sennit_time begin;
	uint64_t    solutions;

	start(r);
	begin = sennit_now();
	solutions = RUN(solve, 0, 0, 0);
	bench_elapsed(r, begin);
	bench_check(solutions == QUEENS_SOLUTIONS, "nqueens: wrong number");
}

/* clang-format off */
#define ROW(name, count, function)                                         \
	{ .names = { name "/lace" }, .n = (count), .workers = BENCH_EACH,   \
	  .run = (function) }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn", SPAWNED, spawn_flat),
	ROW("W2-fib", FIB_SPAWNED, fork_join),
	ROW("W3-skynet", SKY_NODES, skynet),
	ROW("W9-unbalanced-tree", TREE_NODES, tree),
	ROW("W10a-nqueens", QUEENS_PLACED, queens),
	{ .run = NULL },
};
