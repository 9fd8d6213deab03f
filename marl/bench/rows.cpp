/* SPDX-License-Identifier: Apache-2.0 */
/* rows.cpp - workloads of other rows, written with marl's names: they show what
 * the headers of marl/include cost. sennit-bench-marl contains these rows and
 * all others.
 */
#include "row.h"

#include "marl/event.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <memory>
#include <vector>

namespace
{

/* --- W1: a million empty tasks ------------------------------------------- */

/* The capture is one pointer, copied by the scheduler. */
void spawn_plain(bench_run *r)
{
	marl::WaitGroup  left(static_cast<unsigned>(r->n));
	marl::WaitGroup *pointer = &left;
	sennit_time      begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i)
		marl::schedule([pointer] { pointer->done(); });
	left.wait();
	bench_elapsed(r, begin);
}

/* A wait group captured by value: reference-counted, and in a block. */
void spawn_by_value(bench_run *r)
{
	marl::WaitGroup left(static_cast<unsigned>(r->n));
	sennit_time     begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i)
		marl::schedule([left] { left.done(); });
	left.wait();
	bench_elapsed(r, begin);
}

void spawn_task(bench_run *r)
{
	marl::WaitGroup  left(static_cast<unsigned>(r->n));
	marl::WaitGroup *pointer = &left;
	sennit_time      begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i)
		marl::schedule(marl::Task([pointer] { pointer->done(); }));
	left.wait();
	bench_elapsed(r, begin);
}

/* --- W2: fork-join ------------------------------------------------------- */

const unsigned FIB = 32;
const unsigned FIB_RESULT = 2178309;
const uint64_t FIB_SPAWNS = 3524577;

unsigned fib(unsigned n)
{
	unsigned other;

	if (n < 2)
		return n;

	marl::WaitGroup left(1);

	marl::schedule([=, &other] {
		other = fib(n - 1);
		left.done();
	});

	unsigned result = fib(n - 2);

	left.wait();
	return result + other;
}

void fork_join(bench_run *r)
{
	sennit_time begin = sennit_now();
	unsigned    result = fib(FIB);

	bench_elapsed(r, begin);
	bench_check(result == FIB_RESULT, "fib: wrong result");
}

/* --- W3: a tree of a million leaves -------------------------------------- */

const unsigned FAN_OUT = 10;
const uint64_t LEAVES = 1000000;
const uint64_t TREE_TASKS = 1111110;

uint64_t sum_of(uint64_t first, uint64_t leaves)
{
	uint64_t parts[FAN_OUT];
	uint64_t sum = 0;

	if (leaves == 1)
		return first;

	marl::WaitGroup left(FAN_OUT);

	leaves /= FAN_OUT;
	for (unsigned i = 0; i < FAN_OUT; ++i)
		marl::schedule([=, &parts] {
			parts[i] = sum_of(first + i * leaves, leaves);
			left.done();
		});
	left.wait();
	for (uint64_t part : parts)
		sum += part;
	return sum;
}

void tree(bench_run *r)
{
	sennit_time begin = sennit_now();
	uint64_t    sum = sum_of(0, LEAVES);

	bench_elapsed(r, begin);
	bench_check(sum == (LEAVES - 1) * (LEAVES / 2), "tree: wrong sum");
}

/* --- W4: two fibers and a token ------------------------------------------ */

void play(marl::Event wait_for, marl::Event signal, bool first,
	  uint64_t rallies)
{
	for (uint64_t i = 0; i < rallies; ++i) {
		if (first)
			signal.signal();
		wait_for.wait();
		if (!first)
			signal.signal();
	}
}

void one_worker(bench_run *r)
{
	marl::Event     ping, pong;
	marl::WaitGroup players(2);
	uint64_t        rallies = r->n / 2;
	sennit_time     begin = sennit_now();

	for (bool first : { true, false })
		marl::schedule(marl::Task(
			[=] {
				play(first ? ping : pong, first ? pong : ping,
				     first, rallies);
				players.done();
			},
			marl::Task::Flags::SameThread));
	players.wait();
	bench_elapsed(r, begin);
}

/* Each keeps its thread until the other is there. */
void two_workers(bench_run *r)
{
	marl::Event           ping, pong;
	marl::WaitGroup       players(2);
	uint64_t              rallies = r->n / 2;
	std::atomic<unsigned> present{ 0 };
	sennit_time           begin = 0;

	for (bool first : { true, false })
		marl::schedule([=, &present, &begin] {
			present++;
			while (present < 2)
				continue;
			if (first)
				begin = sennit_now();
			play(first ? ping : pong, first ? pong : ping, first,
			     rallies);
			players.done();
		});
	players.wait();
	bench_elapsed(r, begin);
}

/* --- W5: a ring of 503 fibers -------------------------------------------- */

const unsigned FIBERS = 503;
const unsigned ROUNDS = 2000;

void ring(bench_run *r)
{
	sennit_time              begin = sennit_now();
	marl::WaitGroup          left(FIBERS);
	std::vector<marl::Event> tokens;

	for (unsigned i = 0; i < FIBERS; ++i)
		tokens.emplace_back(marl::Event::Mode::Auto);
	for (unsigned i = 0; i < FIBERS; ++i) {
		marl::Event mine = tokens[i], next = tokens[(i + 1) % FIBERS];

		marl::schedule([=] {
			for (unsigned k = 0; k < ROUNDS; ++k) {
				mine.wait();
				next.signal();
			}
			left.done();
		});
	}
	tokens[0].signal();
	left.wait();
	bench_elapsed(r, begin);
}

/* --- W6: many wait for one event ----------------------------------------- */

void block_and_wake(bench_run *r)
{
	unsigned        n = static_cast<unsigned>(r->n);
	marl::Event     gate(marl::Event::Mode::Manual);
	marl::WaitGroup arriving(n), leaving(n);
	sennit_time     begin = sennit_now();

	for (unsigned i = 0; i < n; ++i)
		marl::schedule([=] {
			arriving.done();
			gate.wait();
			leaving.done();
		});
	arriving.wait();

	sennit_time blocked = sennit_now();

	gate.signal();
	leaving.wait();
	r->value[0] = double(blocked - begin) / double(n);
	r->value[1] = double(sennit_now() - blocked) / double(n);
}

/* --- W11: from outside --------------------------------------------------- */

const size_t      SAMPLES = 500;
const sennit_time GAP = 2 * SENNIT_MILLISECOND;

void submit(bench_run *r)
{
	static uint64_t                         samples[SAMPLES];
	static std::unique_ptr<marl::Scheduler> scheduler;
	static std::atomic<sennit_time>         ran;

	if (!scheduler)
		scheduler.reset(new marl::Scheduler(
			marl::Scheduler::Config().setWorkerThreadCount(
				static_cast<int>(r->workers))));
	for (uint64_t &sample : samples) {
		ran = 0;
		bench_pause(GAP);

		sennit_time begin = sennit_now();

		scheduler->enqueue(marl::Task([] { ran = sennit_now(); }));
		while (ran == 0)
			bench_pause(GAP);
		sample = ran - begin;
	}
	r->value[0] = bench_percentile(samples, SAMPLES, 50);
	r->value[1] = bench_percentile(samples, SAMPLES, 99);
}

} // namespace

const bench_row bench_marl[] = {
	row({ { "W1-spawn/marl-pointer" } }, 1000000, spawn_plain),
	row({ { "W1-spawn/marl-wait-group" } }, 1000000, spawn_by_value),
	row({ { "W1-spawn/marl-task" } }, 1000000, spawn_task),
	row({ { "W2-fib/marl" } }, FIB_SPAWNS, fork_join),
	row({ { "W3-skynet/marl" } }, TREE_TASKS, tree),
	row({ { "W4a-ping-pong/marl" } }, 2000000, one_worker),
	row({ { "W4b-ping-pong/marl" } }, 400000, two_workers, BENCH_FROM_TWO),
	row({ { "W5-ring/marl" } }, FIBERS *ROUNDS, ring),
	row({ { "W6a-block/marl", "W6c-wake/marl" } }, 100000, block_and_wake,
	    BENCH_EACH, BENCH_INSIDE, uint64_t(1) << 30),
	row({ { "W11a-submit/marl-p50", "W11a-submit/marl-p99" } }, SAMPLES,
	    submit, BENCH_EACH, BENCH_OUTSIDE),
	bench_row(),
};
