/* SPDX-License-Identifier: Apache-2.0 */
/* apps_tbb.cpp - the programs of core/bench/apps with oneTBB.
 *
 * Left out: R6, because each suspended task keeps a thread's stack.
 */
#include "tbb.hpp"

#include <tbb/flow_graph.h>
#include <oneapi/tbb/mutex.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>

#include <deque>

#define B_TREE_LOCK        tbb::mutex
#define B_TREE_ACQUIRE(at) (at)->lock()
#define B_TREE_RELEASE(at) (at)->unlock()
#include "apps/b_tree.h"
#include "apps/cholesky.h"
#include "apps/fft.h"
#include "apps/merge.h"
#include "apps/ray.h"

/* Run f() as a task and store how long it took. */
template <typename F> static void time_inside(struct bench_run *r, F f)
{
	inside(r->workers, [&] {
		sennit_time begin = sennit_now();

		f();
		bench_elapsed(r, begin);
	});
}

static void transform(struct point (*rows)[FFT_SIDE])
{
	tbb::parallel_for(0, FFT_SIDE, [rows](int i) { fft_row(rows[i]); });
}

static void fft(struct bench_run *r)
{
	fft_make_data();
	time_inside(r, [] {
		transform(fft_data);
		tbb::parallel_for(0, FFT_TILES,
				  [](int i) { fft_turn((unsigned)i); });
		transform(fft_turned);
	});
	fft_check();
}

static void ray(struct bench_run *r)
{
	ray_begin();
	time_inside(r, [] {
		tbb::parallel_for(0, RAY_HEIGHT,
				  [](int y) { ray_line((unsigned)y); });
	});
	ray_check();
}

static void merge_ranges(const struct ranges &m)
{
	struct ranges half[2];

	if (merge_is_short(&m)) {
		merge_serially(&m);
		return;
	}
	merge_divide(&m, half);
	tbb::parallel_invoke([&half] { merge_ranges(half[0]); },
			     [&half] { merge_ranges(half[1]); });
}

static void merge_runs(size_t first, size_t runs)
{
	if (runs == 1)
		return;
	tbb::parallel_invoke([=] { merge_runs(first, runs / 2); },
			     [=] { merge_runs(first + runs / 2, runs / 2); });
	merge_ranges(merge_last(first, runs));
}

static void merge(struct bench_run *r)
{
	merge_make_data();
	time_inside(r, [] { merge_runs(0, MERGE_RUNS); });
	merge_check();
}

static void b_tree(struct bench_run *r)
{
	b_begin();
	time_inside(r, [] {
		tbb::parallel_for(
			tbb::blocked_range<unsigned>(0, B_TREE_TASKS, 1),
			[](const tbb::blocked_range<unsigned> &parts) {
				for (unsigned i = parts.begin();
				     i < parts.end(); i++)
					b_insert_part(i);
			},
			tbb::simple_partitioner());
	});
	b_check();
}

static void do_steps(void)
{
	using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
	tbb::flow::graph graph;
	std::deque<node> nodes;

	for (unsigned i = 0; i < CHOL_STEPS; i++) {
		struct chol_step *s = &chol_steps[i];

		nodes.emplace_back(graph, [s](tbb::flow::continue_msg m) {
			chol_do(s);
			return m;
		});
		for (uint32_t before : s->before)
			if (before != CHOL_NONE)
				make_edge(nodes[before], nodes[i]);
	}
	for (unsigned i = 0; i < CHOL_STEPS; i++)
		if (chol_is_first(&chol_steps[i]))
			nodes[i].try_put(tbb::flow::continue_msg());
	graph.wait_for_all();
}

static void cholesky(struct bench_run *r)
{
	chol_plan();
	chol_make_data();
	time_inside(r, do_steps);
	chol_check();
}

#define ROW(name, count, function)                                             \
	{                                                                      \
		.names = { name "/tbb" }, .n = (count), .workers = BENCH_EACH, \
		.run = (function)                                              \
	}

const struct bench_row peer_rows[] = {
	ROW("R1-fft", FFT_ROWS, fft),
	ROW("R2-ray", RAY_PIXELS, ray),
	ROW("R3-merge", MERGE_COUNT, merge),
	ROW("R4-b-tree", B_TREE_INSERTS, b_tree),
	ROW("R5-cholesky", CHOL_STEPS, cholesky),
	{ .run = nullptr },
};
