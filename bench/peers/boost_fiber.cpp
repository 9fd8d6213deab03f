/* SPDX-License-Identifier: Apache-2.0 */
/* boost_fiber.cpp - Boost.Fiber: its round-robin scheduler with one thread, its
 * work stealing with two; stacks of 64 KiB, from its pool where only one thread
 * takes and returns them.
 *
 * Left out: W9; and W1 and W5 with two threads, because they take minutes, or
 * for ever.
 */
#include "peer.h"

#include <boost/fiber/all.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace fibers = boost::fibers;

#define STACK          (64 * 1024)
#define FEW            20000 /* tasks, where a fiber takes microseconds */
#define FIB_20         20
#define FIB_20_RESULT  6765
#define FIB_20_SPAWNED 10945
#define SKY_FEW        10000
#define SKY_FEW_NODES  11110
#define SKY_FEW_RESULT (UINT64_C(9999) * 5000)

const char *peer_version(void)
{
	return "Boost.Fiber " BOOST_LIB_VERSION ", " BENCH_COMPILER;
}

/* --- threads that run fibers ---------------------------------------------- */

static bool alone = true;

static void work_forever(uint32_t workers)
{
	fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers);
	fibers::mutex                   mutex;
	fibers::condition_variable      never;
	std::unique_lock<fibers::mutex> lock(mutex);

	never.wait(lock, [] { return false; });
}

/* Let `workers` threads, including this one, run fibers until the end. */
static void start(uint32_t workers)
{
	static bool started;

	if (started || workers < 2)
		return;
	started = true;
	alone = false;
	for (uint32_t i = 1; i < workers; i++)
		std::thread(work_forever, workers).detach();
	fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers);
}

template <typename F> static fibers::fiber launch_plainly(F f)
{
	return fibers::fiber(fibers::launch::dispatch, std::allocator_arg,
			     fibers::fixedsize_stack(STACK), f);
}

/* With a stack of the pool, which touches more memory, but only once. */
template <typename F> static fibers::fiber launch(F f)
{
	static fibers::pooled_fixedsize_stack pool(STACK);

	if (!alone)
		return launch_plainly(f);
	return fibers::fiber(fibers::launch::dispatch, std::allocator_arg, pool,
			     f);
}

/* --- spawn and join ------------------------------------------------------- */

static void spawn_flat(struct bench_run *r)
{
	std::vector<fibers::fiber> all;
	sennit_time                begin = sennit_now();

	all.reserve(r->n);
	for (uint64_t i = 0; i < r->n; i++)
		all.push_back(launch([] {}));
	for (fibers::fiber &f : all)
		f.join();
	bench_elapsed(r, begin);
}

static unsigned fib(unsigned n)
{
	unsigned other, mine;

	if (n < 2)
		return n;
	fibers::fiber half = launch([&other, n] { other = fib(n - 1); });
	mine = fib(n - 2);
	half.join();
	return mine + other;
}

static void fork_join(struct bench_run *r)
{
	sennit_time begin;
	unsigned    result;

	start(r->workers);
	begin = sennit_now();
	result = fib(FIB_20);
	bench_elapsed(r, begin);
	bench_check(result == FIB_20_RESULT, "fib: wrong result");
}

static uint64_t sum_of(uint64_t first, uint64_t leaves)
{
	uint64_t      sums[SKY_FAN_OUT];
	uint64_t      sum = 0;
	fibers::fiber children[SKY_FAN_OUT];

	if (leaves == 1)
		return first;
	leaves /= SKY_FAN_OUT;
	for (unsigned i = 0; i < SKY_FAN_OUT; i++)
		children[i] = launch([&sums, i, first, leaves] {
			sums[i] = sum_of(first + i * leaves, leaves);
		});
	for (unsigned i = 0; i < SKY_FAN_OUT; i++) {
		children[i].join();
		sum += sums[i];
	}
	return sum;
}

static void skynet(struct bench_run *r)
{
	sennit_time begin;
	uint64_t    sum;

	start(r->workers);
	begin = sennit_now();
	sum = sum_of(0, SKY_FEW);
	bench_elapsed(r, begin);
	bench_check(sum == SKY_FEW_RESULT, "skynet: wrong sum");
}

static void for_each(struct bench_run *r)
{
	static float               elements[ELEMENTS];
	std::vector<fibers::fiber> all;
	sennit_time                begin;

	start(r->workers);
	begin = sennit_now();
	for (size_t i = 0; i < ELEMENTS; i += PIECE)
		all.push_back(launch([i] { change(&elements[i]); }));
	for (fibers::fiber &f : all)
		f.join();
	bench_elapsed(r, begin);
}

/* --- passing a token: unbuffered channels, its fastest way ---------------- */

typedef fibers::unbuffered_channel<int> channel;

static void play_ping(channel &mine, channel &other, uint64_t rallies)
{
	for (uint64_t i = 0; i < rallies; i++) {
		other.push(1);
		mine.value_pop();
	}
}

static void play_pong(channel &mine, channel &other, uint64_t rallies)
{
	for (uint64_t i = 0; i < rallies; i++) {
		mine.value_pop();
		other.push(1);
	}
}

static void one_worker(struct bench_run *r)
{
	channel       ping, pong;
	uint64_t      rallies = r->n / 2;
	sennit_time   begin = sennit_now();
	fibers::fiber a = launch([&] { play_ping(ping, pong, rallies); });
	fibers::fiber b = launch([&] { play_pong(pong, ping, rallies); });

	a.join();
	b.join();
	bench_elapsed(r, begin);
}

/* Each thread has a round-robin scheduler of its own, so its fiber stays
 * there. */
static void two_workers(struct bench_run *r)
{
	channel     ping, pong;
	uint64_t    rallies = r->n / 2;
	sennit_time begin = sennit_now();
	std::thread other([&] { play_pong(pong, ping, rallies); });

	play_ping(ping, pong, rallies);
	other.join();
	bench_elapsed(r, begin);
}

static void ring(struct bench_run *r)
{
	std::vector<channel>       tokens(RING);
	std::vector<fibers::fiber> all;
	uint64_t                   rounds = r->n / RING;
	sennit_time                begin;

	start(r->workers);
	begin = sennit_now();
	for (unsigned i = 0; i < RING; i++)
		all.push_back(launch([&tokens, i, rounds] {
			for (uint64_t j = 0; j < rounds; j++) {
				tokens[i].value_pop();
				if (i + 1 < RING || j + 1 < rounds)
					tokens[(i + 1) % RING].push(1);
			}
		}));
	tokens[0].push(1);
	for (fibers::fiber &f : all)
		f.join();
	bench_elapsed(r, begin);
}

/* --- many waiters --------------------------------------------------------- */

static void block_and_wake(struct bench_run *r)
{
	static fibers::mutex              mutex;
	static fibers::condition_variable gate;
	static bool                       open;
	std::vector<fibers::fiber>        all;
	uint64_t                          before = bench_resident();
	sennit_time                       begin = sennit_now();

	all.reserve(r->n);
	for (uint64_t i = 0; i < r->n; i++)
		all.push_back(launch_plainly([] {
			std::unique_lock<fibers::mutex> lock(mutex);

			gate.wait(lock, [] { return open; });
		}));
	set_value(r, 0, sennit_now() - begin);
	report_memory(r, before);
	begin = sennit_now();
	open = true;
	gate.notify_all();
	for (fibers::fiber &f : all)
		f.join();
	set_value(r, 1, sennit_now() - begin);
}

static void first_touch(struct bench_run *r)
{
	run_afresh(r, block_and_wake);
}

static void contend(struct bench_run *r)
{
	fibers::mutex              mutex;
	uint64_t                   counter = 0;
	std::vector<fibers::fiber> all;
	sennit_time                begin;

	start(r->workers);
	begin = sennit_now();
	for (unsigned i = 0; i < LOCKERS; i++)
		all.push_back(launch([&] {
			for (unsigned j = 0; j < LOCK_PAIRS; j++) {
				mutex.lock();
				counter++;
				mutex.unlock();
			}
		}));
	for (fibers::fiber &f : all)
		f.join();
	bench_elapsed(r, begin);
	bench_check(counter == r->n, "mutex: lost updates");
}

static void sleep_all(struct bench_run *r)
{
	static uint64_t            late[SLEEPERS];
	std::vector<fibers::fiber> all;
	uint64_t                   cpu;

	start(r->workers);
	cpu = bench_cpu_ns();
	for (uint64_t i = 0; i < r->n; i++)
		all.push_back(launch([i] {
			sennit_time due = sennit_after(delay_of(i));

			boost::this_fiber::sleep_until(
				std::chrono::steady_clock::time_point(
					std::chrono::nanoseconds(due)));
			late[i] = sennit_now() - due;
		}));
	for (fibers::fiber &f : all)
		f.join();
	report_sleeps(r, late, cpu);
}

/* --- from outside --------------------------------------------------------- */

static fibers::buffered_channel<int> *bell;

static void answer(void)
{
	for (;;) {
		bell->value_pop();
		ran_now();
	}
}

static void push(void)
{
	bell->push(1);
}

static void wakes(struct bench_run *r)
{
	if (!bell) {
		bell = new fibers::buffered_channel<int>(2);
		std::thread(answer).detach();
		bench_pause(10 * GAP);
	}
	sample_wakes(r, push);
}

/* clang-format off */
#define ROW(name, count, which, function) \
	{ .names = { name }, .n = (count), .workers = (which), \
	  .run = (function) }
#define BLOCK(count)                                                       \
	{ .names = { "W6a-block/boost.fiber/first-touch",                   \
		     "W6c-wake/boost.fiber/first-touch",                    \
		     "W6b-memory/boost.fiber/per-fiber" },                  \
	  .n = (count), .workers = BENCH_ONE, .run = first_touch,           \
	  .memory = (count) * UINT64_C(16384) }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn/boost.fiber", FEW, BENCH_ONE, spawn_flat),
	ROW("W2-fib/boost.fiber", FIB_20_SPAWNED, BENCH_EACH, fork_join),
	ROW("W3-skynet/boost.fiber", SKY_FEW_NODES, BENCH_EACH, skynet),
	ROW("W4a-ping-pong/boost.fiber", HAND_OVERS / 2, BENCH_ONE, one_worker),
	ROW("W4b-ping-pong/boost.fiber", ACROSS / 20, BENCH_TWO, two_workers),
	ROW("W5-ring/boost.fiber", RING *RING_ROUNDS / 2, BENCH_ONE, ring),
	BLOCK(10000),
	BLOCK(100000),
	ROW("W7-mutex/boost.fiber", LOCKERS *LOCK_PAIRS, BENCH_EACH, contend),
	{ .names = { "W8-sleep/boost.fiber/cpu",
		     "W8-sleep/boost.fiber/late-p50",
		     "W8-sleep/boost.fiber/late-p99" },
	  .n = SLEEPERS,
	  .workers = BENCH_ONE,
	  .run = sleep_all,
	  .memory = SLEEPERS * UINT64_C(16384) },
	ROW("W10b-parallel-for/boost.fiber", ELEMENTS, BENCH_EACH, for_each),
	{ .names = { "W11b-wake-fiber/boost.fiber/p50",
		     "W11b-wake-fiber/boost.fiber/p99" },
	  .n = SAMPLES,
	  .workers = BENCH_ONE,
	  .run = wakes },
	{ .run = nullptr },
};
