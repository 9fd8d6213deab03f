/* SPDX-License-Identifier: Apache-2.0 */
/* nqueens.c - twelve queens, row by row. Every placement is a task. */
#include "harness.h"
#include "shapes.h"
#include "sennit/fork_join.h"

typedef uint64_t solver(const struct board *b);

static void time_solver(struct bench_run *r, solver *count_solutions)
{
	const struct board empty = { .columns = 0 };
	sennit_time        begin = sennit_now();
	uint64_t           solutions = count_solutions(&empty);

	bench_elapsed(r, begin);
	bench_check(solutions == QUEENS_SOLUTIONS, "nqueens: wrong number");
}

/* --- with wait groups ----------------------------------------------------- */

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
	time_solver(r, solve);
}

/* --- with tasks tied to wait groups --------------------------------------- */

static void run_tied(void *argument);

static uint64_t solve_tied(const struct board *b)
{
	struct placement  next[QUEENS];
	sennit_wait_group placed = SENNIT_WAIT_GROUP_INIT;
	uint64_t          solutions = is_solved(b);
	unsigned          count = 0;

	for (uint32_t free = free_of(b); free; free &= free - 1, count++) {
		next[count].board = place(b, free & -free);
		spawn_tied(&placed, run_tied, &next[count]);
	}
	sennit_wait_group_wait(&placed);
	while (count > 0)
		solutions += next[--count].solutions;
	return solutions;
}

static void run_tied(void *argument)
{
	struct placement *p = argument;

	p->solutions = solve_tied(&p->board);
}

static void tied_tasks(struct bench_run *r)
{
	time_solver(r, solve_tied);
}

/* --- with groups ---------------------------------------------------------- */

struct member {
	struct board board;
	uint64_t     solutions;
};

static int run_member(void *argument);

static uint64_t solve_in_group(const struct board *b)
{
	struct member next[QUEENS];
	sennit_group  g;
	uint64_t      solutions = is_solved(b);
	unsigned      count = 0;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uint32_t free = free_of(b); free; free &= free - 1, count++) {
		next[count].board = place(b, free & -free);
		bench_check(!sennit_group_spawn(&g, run_member, &next[count]),
			    "nqueens: out of memory");
	}
	bench_check(!sennit_group_wait(&g), "nqueens: a member failed");
	while (count > 0)
		solutions += next[--count].solutions;
	return solutions;
}

static int run_member(void *argument)
{
	struct member *m = argument;

	m->solutions = solve_in_group(&m->board);
	return 0;
}

static void groups(struct bench_run *r)
{
	time_solver(r, solve_in_group);
}

/* --- with fork-join ------------------------------------------------------- */

SENNIT_FORK(uint64_t, forked_solve, struct board, b)
{
	SENNIT_FORK_RECORD(forked_solve) next[QUEENS];
	uint64_t solutions = is_solved(&b);
	unsigned count = 0;

	for (uint32_t free = free_of(&b); free; free &= free - 1)
		SENNIT_FORK_SPAWN_TO(forked_solve, next[count++],
				     place(&b, free & -free));
	while (count > 0)
		solutions += SENNIT_FORK_SYNC(forked_solve, next[--count]);
	return solutions;
}

static uint64_t solve_by_forks(const struct board *b)
{
	return SENNIT_FORK_RUN(forked_solve, *b);
}

static void forks(struct bench_run *r)
{
	time_solver(r, solve_by_forks);
}

/* --- without tasks -------------------------------------------------------- */

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
	time_solver(r, plain_solve);
}

const struct bench_row bench_nqueens[] = {
	{ .names = { "W10a-nqueens/serial" },
	  .n = QUEENS_PLACED,
	  .run = serial },
	BENCH_ROW("W10a-nqueens/wait-group", QUEENS_PLACED, BENCH_EACH, tasks),
	BENCH_ROW("W10a-nqueens/wait-group-spawn", QUEENS_PLACED, BENCH_EACH,
		  tied_tasks),
	BENCH_ROW("W10a-nqueens/group", QUEENS_PLACED, BENCH_EACH, groups),
	BENCH_ROW("W10a-nqueens/fork", QUEENS_PLACED, BENCH_EACH, forks),
	{ .run = NULL },
};
