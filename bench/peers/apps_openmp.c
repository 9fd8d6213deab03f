/* SPDX-License-Identifier: Apache-2.0 */
/* apps_openmp.c - the programs of core/bench/apps with OpenMP, by gcc and
 * clang.
 *
 * Left out: R6, because OpenMP has no wait that releases the thread.
 */
#include "openmp.h"

#include <omp.h>

#define B_TREE_LOCK          omp_lock_t
#define B_TREE_ACQUIRE(lock) omp_set_lock(lock)
#define B_TREE_RELEASE(lock) omp_unset_lock(lock)
#include "apps/b_tree.h"
#include "apps/cholesky.h"
#include "apps/fft.h"
#include "apps/merge.h"
#include "apps/ray.h"

static void transform(struct point (*rows)[FFT_SIDE], unsigned workers)
{
#pragma omp parallel for schedule(dynamic, 8) num_threads((int)workers)
	for (unsigned i = 0; i < FFT_SIDE; i++)
		fft_row(rows[i]);
}

static void fft(struct bench_run *r)
{
	sennit_time begin;

	fft_make_data();
	begin = sennit_now();
	transform(fft_data, r->workers);
#pragma omp parallel for schedule(dynamic) num_threads((int)r->workers)
	for (unsigned i = 0; i < FFT_TILES; i++)
		fft_turn(i);
	transform(fft_turned, r->workers);
	bench_elapsed(r, begin);
	fft_check();
}

static void ray(struct bench_run *r)
{
	sennit_time begin;

	ray_begin();
	begin = sennit_now();
#pragma omp parallel for schedule(dynamic) num_threads((int)r->workers)
	for (unsigned y = 0; y < RAY_HEIGHT; y++)
		ray_line(y);
	bench_elapsed(r, begin);
	ray_check();
}

static void merge_ranges(struct ranges m)
{
	struct ranges half[2];

	if (merge_is_short(&m)) {
		merge_serially(&m);
		return;
	}
	merge_divide(&m, half);
#pragma omp task
	merge_ranges(half[0]);
	merge_ranges(half[1]);
#pragma omp taskwait
}

static void merge_runs(size_t first, size_t runs)
{
	if (runs == 1)
		return;
#pragma omp task
	merge_runs(first, runs / 2);
	merge_runs(first + runs / 2, runs / 2);
#pragma omp taskwait
	merge_ranges(merge_last(first, runs));
}

static void merge(struct bench_run *r)
{
	sennit_time begin;

	merge_make_data();
	begin = sennit_now();
#pragma omp parallel num_threads((int)r->workers)
#pragma omp          single
        merge_runs(0, MERGE_RUNS);
        bench_elapsed(r, begin);
        merge_check();
}

static void b_tree(struct bench_run *r)
{
	static bool made;
	sennit_time begin;

	if (!made) {
		omp_init_lock(&b_root_lock);
		for (size_t i = 0; i < B_TREE_NODES; i++)
			omp_init_lock(&b_nodes[i].lock);
	}
	made = true;
	b_begin();
	begin = sennit_now();
#pragma omp parallel for schedule(dynamic) num_threads((int)r->workers)
	for (unsigned i = 0; i < B_TREE_TASKS; i++)
		b_insert_part(i);
	bench_elapsed(r, begin);
	b_check();
}

/* The tiles that a step uses give OpenMP the order of the steps. A step that
 * uses fewer than three names one of them again. */
static void do_steps(void)
{
	for (unsigned at = 0; at < CHOL_STEPS; at++) {
		const struct chol_step *s = &chol_steps[at];
		chol_tile              *a = &chol_data[s->i][s->j];
		chol_tile              *left = &chol_data[s->i][s->k];
		chol_tile              *right = &chol_data[s->j][s->k];

		if (s->kind == CHOL_DIVIDE)
			left = right = &chol_data[s->j][s->j];
		if (s->kind == CHOL_FACTOR) {
#pragma omp task depend(out : *a)
			chol_do(s);
		} else {
#pragma omp task depend(out : *a) depend(in : *left, *right)
			chol_do(s);
		}
	}
}

static void cholesky(struct bench_run *r)
{
	sennit_time begin;

	chol_plan();
	chol_make_data();
	begin = sennit_now();
#pragma omp parallel num_threads((int)r->workers)
#pragma omp          single
        do_steps();
        bench_elapsed(r, begin);
        chol_check();
}

const struct bench_row peer_rows[] = {
	ROW("R1-fft", FFT_ROWS, fft),
	ROW("R2-ray", RAY_PIXELS, ray),
	ROW("R3-merge", MERGE_COUNT, merge),
	ROW("R4-b-tree", B_TREE_INSERTS, b_tree),
	ROW("R5-cholesky", CHOL_STEPS, cholesky),
	{ .run = NULL },
};
