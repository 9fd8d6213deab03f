/* SPDX-License-Identifier: Apache-2.0 */
/* nqueens.c - twelve queens, row by row; every placement is a task. */
#include "harness.h"

#define QUEENS    12
#define SOLUTIONS 14200
#define TASKS     856188 /* placements that no earlier queen attacks */

/* Columns and diagonals under attack, as seen from the next row. */
struct board {
	sennit_wait_group *parent;
	uint32_t           columns;
	uint32_t           left;
	uint32_t           right;
	uint64_t           solutions;
};

static const uint32_t full = (UINT32_C(1) << QUEENS) - 1;

static struct board place(const struct board *b, uint32_t queen)
{
	return (struct board){ .columns = b->columns | queen,
			       .left = (b->left | queen) << 1,
			       .right = (b->right | queen) >> 1 };
}

static uint32_t free_of(const struct board *b)
{
	return full & ~(b->columns | b->left | b->right);
}

static void run_board(void *argument);

static void solve(struct board *b)
{
	struct board      next[QUEENS];
	sennit_wait_group placed;
	uint32_t          free = free_of(b);
	unsigned          count = (unsigned)__builtin_popcount(free);

	b->solutions = b->columns == full;
	if (!count)
		return;
	sennit_wait_group_init(&placed, count);
	for (unsigned i = 0; i < count; i++, free &= free - 1) {
		next[i] = place(b, free & -free);
		next[i].parent = &placed;
		spawn(run_board, &next[i]);
	}
	sennit_wait_group_wait(&placed);
	for (unsigned i = 0; i < count; i++)
		b->solutions += next[i].solutions;
}

static void run_board(void *argument)
{
	struct board *b = argument;

	solve(b);
	sennit_wait_group_done(b->parent);
}

static void tasks(struct bench_run *r)
{
	struct board empty = { .columns = 0 };
	sennit_time  begin = sennit_now();

	solve(&empty);
	bench_elapsed(r, begin);
	bench_check(empty.solutions == SOLUTIONS, "nqueens: wrong number");
}

static __attribute__((noinline)) uint64_t plain_solve(const struct board *b)
{
	uint64_t     solutions = b->columns == full;
	struct board next;

	for (uint32_t free = free_of(b); free; free &= free - 1) {
		next = place(b, free & -free);
		solutions += plain_solve(&next);
	}
	return solutions;
}

static void serial(struct bench_run *r)
{
	struct board empty = { .columns = 0 };
	sennit_time  begin = sennit_now();
	uint64_t     solutions = plain_solve(&empty);

	bench_elapsed(r, begin);
	bench_check(solutions == SOLUTIONS, "nqueens: wrong number");
}

const struct bench_row bench_nqueens[] = {
	{ .names = { "W10a-nqueens/serial" }, .n = TASKS, .run = serial },
	{ .names = { "W10a-nqueens/wait-group" },
	  .n = TASKS,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = tasks },
	{ .run = NULL },
};
