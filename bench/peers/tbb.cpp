/* SPDX-License-Identifier: Apache-2.0 */
/* tbb.cpp - oneTBB: task_group, parallel_for, resumable tasks.
 *
 * Left out: W4b, because a task resumes on any worker; W6, because each
 * suspended task keeps a thread's stack and thousands of them end the process;
 * W7 and W8, because its mutexes and sleeps block a worker.
 */
#include "tbb.hpp"

#include <atomic>
#include <cstdio>
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task.h>
#include <tbb/task_group.h>

/* --- spawn and join ------------------------------------------------------- */

static void spawn_flat(struct bench_run *r)
{
	inside(r->workers, [r] {
		sennit_time     begin = sennit_now();
		tbb::task_group group;

		for (uint64_t i = 0; i < r->n; i++)
			group.run([] {});
		group.wait();
		bench_elapsed(r, begin);
	});
}

static unsigned fib(unsigned n)
{
	unsigned        other, mine;
	tbb::task_group group;

	if (n < 2)
		return n;
	group.run([&other, n] { other = fib(n - 1); });
	mine = fib(n - 2);
	group.wait();
	return mine + other;
}

static void fork_join(struct bench_run *r)
{
	inside(r->workers, [r] {
		sennit_time begin = sennit_now();
		unsigned    result = fib(FIB);

		bench_elapsed(r, begin);
		bench_check(result == FIB_RESULT, "fib: wrong result");
	});
}

static uint64_t sum_of(uint64_t first, uint64_t leaves)
{
	uint64_t        sums[SKY_FAN_OUT];
	uint64_t        sum = 0;
	tbb::task_group group;

	if (leaves == 1)
		return first;
	leaves /= SKY_FAN_OUT;
	for (unsigned i = 0; i < SKY_FAN_OUT; i++)
		group.run([&sums, i, first, leaves] {
			sums[i] = sum_of(first + i * leaves, leaves);
		});
	group.wait();
	for (uint64_t s : sums)
		sum += s;
	return sum;
}

static void skynet(struct bench_run *r)
{
	inside(r->workers, [r] {
		sennit_time begin = sennit_now();
		uint64_t    sum = sum_of(0, SKY_LEAVES);

		bench_elapsed(r, begin);
		bench_check(sum == SKY_RESULT, "skynet: wrong sum");
	});
}

static uint64_t count_node(uint64_t number);

static uint64_t count_all(uint64_t number, uint64_t counts[], unsigned count)
{
	uint64_t        sum = 1;
	tbb::task_group group;

	for (unsigned i = 0; i < count; i++)
		group.run([=] { counts[i] = count_node(child_of(number, i)); });
	group.wait();
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

	inside(r->workers, [r] {
		sennit_time begin = sennit_now();
		uint64_t    count = count_all(root_of_tree(), counts,
					      TREE_AT_ROOT);

		bench_elapsed(r, begin);
		bench_check(count == TREE_NODES, "tree: wrong count");
	});
}

static uint64_t solve(const struct board b)
{
	uint64_t        solutions[QUEENS];
	uint64_t        sum = is_solved(&b);
	unsigned        count = 0;
	tbb::task_group group;

	for (uint32_t free = free_of(&b); free; free &= free - 1, count++)
		group.run([&solutions, count, b, free] {
			solutions[count] = solve(place(&b, free & -free));
		});
	group.wait();
	for (unsigned i = 0; i < count; i++)
		sum += solutions[i];
	return sum;
}

static void nqueens(struct bench_run *r)
{
	inside(r->workers, [r] {
		sennit_time begin = sennit_now();
		uint64_t    solutions = solve(board());

		bench_elapsed(r, begin);
		bench_check(solutions == QUEENS_SOLUTIONS, "queens: wrong");
	});
}

static float elements[ELEMENTS];

static void for_each(struct bench_run *r)
{
	inside(r->workers, [r] {
		sennit_time begin = sennit_now();

		tbb::parallel_for(
			tbb::blocked_range<size_t>(0, ELEMENTS / PIECE, 1),
			[](const tbb::blocked_range<size_t> &pieces) {
				for (size_t i = pieces.begin();
				     i < pieces.end(); i++)
					change(&elements[i * PIECE]);
			},
			tbb::simple_partitioner());
		bench_elapsed(r, begin);
	});
}

/* --- suspend and resume --------------------------------------------------- */

/* An auto-reset event for one waiter: not set, set, or the waiter. */
class event
{
public:
	void wait()
	{
		if (take())
			return;
		tbb::task::suspend([this](tbb::task::suspend_point me) {
			void *expected = nullptr;

			if (!state.compare_exchange_strong(expected, me)) {
				state = nullptr;
				tbb::task::resume(me);
			}
		});
	}

	void clear()
	{
		state = nullptr;
	}

	void set()
	{
		void *expected = nullptr;

		if (state.compare_exchange_strong(expected, this) ||
		    expected == this)
			return;
		state = nullptr;
		tbb::task::resume(
			static_cast<tbb::task::suspend_point>(expected));
	}

private:
	bool take()
	{
		void *expected = this;

		return state.compare_exchange_strong(expected, nullptr);
	}

	alignas(128) std::atomic<void *> state{ nullptr };
};

static void one_worker(struct bench_run *r)
{
	inside(r->workers, [r] {
		static event    ping, pong;
		sennit_time     begin = sennit_now();
		uint64_t        rallies = r->n / 2;
		tbb::task_group group;

		ping.clear();
		pong.clear();
		group.run([rallies] {
			for (uint64_t i = 0; i < rallies; i++) {
				pong.set();
				ping.wait();
			}
		});
		group.run([rallies] {
			for (uint64_t i = 0; i < rallies; i++) {
				pong.wait();
				ping.set();
			}
		});
		group.wait();
		bench_elapsed(r, begin);
	});
}

static void ring(struct bench_run *r)
{
	static event tokens[RING];

	inside(r->workers, [r] {
		sennit_time     begin = sennit_now();
		uint64_t        rounds = r->n / RING;
		tbb::task_group group;

		for (event &token : tokens)
			token.clear();
		for (unsigned i = 0; i < RING; i++)
			group.run([i, rounds] {
				for (uint64_t j = 0; j < rounds; j++) {
					tokens[i].wait();
					tokens[(i + 1) % RING].set();
				}
			});
		tokens[0].set();
		group.wait();
		bench_elapsed(r, begin);
	});
}

/* --- from outside --------------------------------------------------------- */

static tbb::task_arena *outside;

/* All its slots are for workers, none for the main thread. */
static void open_outside(uint32_t workers)
{
	static tbb::global_control limit(
		tbb::global_control::max_allowed_parallelism, workers + 1);

	outside = new tbb::task_arena((int)workers, 0);
}

static void submit(void)
{
	outside->enqueue(ran_now);
}

static void submits(struct bench_run *r)
{
	if (!outside)
		open_outside(r->workers);
	sample_wakes(r, submit);
}

static std::atomic<tbb::task::suspend_point> sleeper;

static void answer(void)
{
	for (;;) {
		tbb::task::suspend(
			[](tbb::task::suspend_point me) { sleeper = me; });
		ran_now();
	}
}

static void resume(void)
{
	tbb::task::resume(sleeper.exchange(nullptr));
}

static void resumes(struct bench_run *r)
{
	if (!outside) {
		open_outside(r->workers);
		outside->enqueue(answer);
		while (!sleeper)
			bench_pause(GAP);
	}
	sample_wakes(r, resume);
}

/* clang-format off */
#define ROW(name, count, which, function) \
	{ .names = { name }, .n = (count), .workers = (which), \
	  .run = (function) }
#define LATENCY(name, function)                                            \
	{ .names = { name "/tbb/p50", name "/tbb/p99" }, .n = SAMPLES,      \
	  .workers = BENCH_TWO, .run = (function) }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn/tbb", SPAWNED, BENCH_EACH, spawn_flat),
	ROW("W2-fib/tbb", FIB_SPAWNED, BENCH_EACH, fork_join),
	ROW("W3-skynet/tbb", SKY_NODES, BENCH_EACH, skynet),
	ROW("W4a-ping-pong/tbb", HAND_OVERS / 10, BENCH_ONE, one_worker),
	ROW("W5-ring/tbb", RING *RING_ROUNDS / 10, BENCH_EACH, ring),
	ROW("W9-unbalanced-tree/tbb", TREE_NODES, BENCH_EACH, unbalanced_tree),
	ROW("W10a-nqueens/tbb", QUEENS_PLACED, BENCH_EACH, nqueens),
	ROW("W10b-parallel-for/tbb", ELEMENTS, BENCH_EACH, for_each),
	LATENCY("W11a-submit", submits),
	LATENCY("W11b-wake-fiber", resumes),
	{ .run = nullptr },
};
