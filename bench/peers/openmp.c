/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.c - OpenMP tasks, built twice: by gcc with libgomp and by clang with
 * libomp. One thread of the team is the root and creates the tasks.
 *
 * Left out: waits for anything except tasks, because OpenMP has no such wait
 * that releases the thread. With one thread libgomp runs each task where it is
 * created, as a call.
 */
#include "openmp.h"

static void inside(struct bench_run *r, bench_fn *run)
{
#pragma omp parallel num_threads((int)r->workers)
#pragma omp          single
        run(r);
}

static void nothing(void)
{
	__asm__ volatile("");
}

static void spawn_flat(struct bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++) {
#pragma omp task
		nothing();
	}
#pragma omp taskwait
	bench_elapsed(r, begin);
}

static unsigned fib(unsigned n)
{
	unsigned other, mine;

	if (n < 2)
		return n;
#pragma omp task shared(other)
	other = fib(n - 1);
	mine = fib(n - 2);
#pragma omp taskwait
	return mine + other;
}

static void fork_join(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	unsigned    result = fib(FIB);

	bench_elapsed(r, begin);
	bench_check(result == FIB_RESULT, "fib: wrong result");
}

static uint64_t sum_of(uint64_t first, uint64_t leaves)
{
	uint64_t sums[SKY_FAN_OUT];
	uint64_t sum = 0;

	if (leaves == 1)
		return first;
	leaves /= SKY_FAN_OUT;
	for (unsigned i = 0; i < SKY_FAN_OUT; i++) {
#pragma omp task shared(sums)
		sums[i] = sum_of(first + i * leaves, leaves);
	}
#pragma omp      taskwait
        for (unsigned i = 0; i < SKY_FAN_OUT; i++)
                sum += sums[i];
        return sum;
}

static void skynet(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    sum = sum_of(0, SKY_LEAVES);

	bench_elapsed(r, begin);
	bench_check(sum == SKY_RESULT, "skynet: wrong sum");
}

static uint64_t count_node(uint64_t number);

static uint64_t count_all(uint64_t number, uint64_t counts[], unsigned count)
{
	uint64_t sum = 1;

	for (unsigned i = 0; i < count; i++) {
#pragma omp task
		counts[i] = count_node(child_of(number, i));
	}
#pragma omp taskwait
	for (unsigned i = 0; i < count; i++)
		sum += counts[i];
	return sum;
}

static uint64_t count_node(uint64_t number)
{
	uint64_t counts[TREE_CHILDREN];

	if (!is_fertile(number))
		return 1;
	return count_all(number, counts, TREE_CHILDREN);
}

static void unbalanced_tree(struct bench_run *r)
{
	static uint64_t counts[TREE_AT_ROOT];
	sennit_time     begin = sennit_now();
	uint64_t        count = count_all(root_of_tree(), counts, TREE_AT_ROOT);

	bench_elapsed(r, begin);
	bench_check(count == TREE_NODES, "tree: wrong count");
}

static uint64_t solve(struct board b)
{
	uint64_t solutions[QUEENS];
	uint64_t sum = is_solved(&b);
	unsigned count = 0;

	for (uint32_t free = free_of(&b); free; free &= free - 1, count++) {
#pragma omp task shared(solutions)
		solutions[count] = solve(place(&b, free & -free));
	}
#pragma omp      taskwait
        for (unsigned i = 0; i < count; i++)
                sum += solutions[i];
        return sum;
}

static void nqueens(struct bench_run *r)
{
	struct board empty = { .columns = 0 };
	sennit_time  begin = sennit_now();
	uint64_t     solutions = solve(empty);

	bench_elapsed(r, begin);
	bench_check(solutions == QUEENS_SOLUTIONS, "queens: wrong number");
}

/* --- the rows ------------------------------------------------------------- */

static void run_spawn_flat(struct bench_run *r)
{
	inside(r, spawn_flat);
}

static void run_fork_join(struct bench_run *r)
{
	inside(r, fork_join);
}

static void run_skynet(struct bench_run *r)
{
	inside(r, skynet);
}

static void run_unbalanced_tree(struct bench_run *r)
{
	inside(r, unbalanced_tree);
}

static void run_nqueens(struct bench_run *r)
{
	inside(r, nqueens);
}

/* Uses OpenMP's own loop for it. Its team outlives the loop. */
static void run_for_each(struct bench_run *r)
{
	static float elements[ELEMENTS];
	sennit_time  begin = sennit_now();

#pragma omp parallel for schedule(dynamic) num_threads((int)r->workers)
	for (unsigned i = 0; i < ELEMENTS / PIECE; i++)
		change(&elements[(size_t)i * PIECE]);
	bench_elapsed(r, begin);
}

const struct bench_row peer_rows[] = {
	ROW("W1-spawn", SPAWNED, run_spawn_flat),
	ROW("W2-fib", FIB_SPAWNED, run_fork_join),
	ROW("W3-skynet", SKY_NODES, run_skynet),
	ROW("W9-unbalanced-tree", TREE_NODES, run_unbalanced_tree),
	ROW("W10a-nqueens", QUEENS_PLACED, run_nqueens),
	ROW("W10b-parallel-for", ELEMENTS, run_for_each),
	{ .run = NULL },
};
