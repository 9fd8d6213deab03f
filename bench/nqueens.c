/* SPDX-License-Identifier: Apache-2.0 */
/* nqueens.c - twelve queens, row by row; every placement is a task. */
#include "harness.h"
#include "shapes.h"

struct placement {
	sennit_wait_group *parent;
	struct board       board;
	uint64_t           solutions;
};

static void run_placement(void *argument);

static uint64_t solve(const struct board *b)
{
	struct placement  next[QUEENS];
	sennit_wait_group placed;
	uint32_t          free = free_of(b);
	uint64_t          solutions = is_solved(b);
	unsigned          count = (unsigned)__builtin_popcount(free);

	if (!count)
		return solutions;
	sennit_wait_group_init(&placed, count);
	for (unsigned i = 0; i < count; i++, free &= free - 1) {
		next[i].board = place(b, free & -free);
		next[i].parent = &placed;
		spawn(run_placement, &next[i]);
	}
	sennit_wait_group_wait(&placed);
	for (unsigned i = 0; i < count; i++)
		solutions += next[i].solutions;
	return solutions;
}

static void run_placement(void *argument)
{
	struct placement *p = argument;

	p->solutions = solve(&p->board);
	sennit_wait_group_done(p->parent);
}

static void tasks(struct bench_run *r)
{
	struct board empty = { .columns = 0 };
	sennit_time  begin = sennit_now();
	uint64_t     solutions = solve(&empty);

	bench_elapsed(r, begin);
	bench_check(solutions == QUEENS_SOLUTIONS, "nqueens: wrong number");
}

static __attribute__((noinline)) uint64_t plain_solve(const struct board *b)
{
	uint64_t     solutions = is_solved(b);
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
	bench_check(solutions == QUEENS_SOLUTIONS, "nqueens: wrong number");
}

const struct bench_row bench_nqueens[] = {
	{ .names = { "W10a-nqueens/serial" },
	  .n = QUEENS_PLACED,
	  .run = serial },
	{ .names = { "W10a-nqueens/wait-group" },
	  .n = QUEENS_PLACED,
	  .workers = BENCH_EACH,
	  .place = BENCH_INSIDE,
	  .run = tasks },
	{ .run = NULL },
};
