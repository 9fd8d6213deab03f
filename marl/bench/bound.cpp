/* SPDX-License-Identifier: Apache-2.0 */
/* bound.cpp - what a bound thread does, written with marl's names, and tasks by
 * the size of what they captured. The thread is no worker, as in most programs
 * for marl.
 */
#include "row.h"

#include "marl/mutex.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <array>

namespace
{

/* A scheduler with the row's workers, to which the thread is bound. */
class Bound
{
public:
	explicit Bound(const bench_run *r)
	    : scheduler(marl::Scheduler::Config().setWorkerThreadCount(
		      static_cast<int>(r->workers)))
	{
		scheduler.bind();
	}
	~Bound()
	{
		marl::Scheduler::unbind();
	}
	Bound(const Bound &) = delete;
	Bound &operator=(const Bound &) = delete;

	marl::Scheduler scheduler;
};

volatile unsigned sink; /* so that what is computed is used */

/* --- W7: a mutex that nobody else wants ---------------------------------- */

void lock_alone(bench_run *r)
{
	Bound       bound(r);
	marl::mutex mutex;
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i) {
		mutex.lock();
		mutex.unlock();
	}
	bench_elapsed(r, begin);
}

/* --- W14: bind and unbind ------------------------------------------------ */

void bind_and_unbind(bench_run *r)
{
	Bound       bound(r);
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i) {
		marl::Scheduler::unbind();
		bound.scheduler.bind();
	}
	bench_elapsed(r, begin);
}

/* --- W1: tasks by the size of what they captured ------------------------- */

template <size_t size> void spawn(bench_run *r)
{
	marl::WaitGroup  left(static_cast<unsigned>(r->n));
	marl::WaitGroup *pointer = &left;
	sennit_time      begin = sennit_now();

	std::array<char, size - sizeof(pointer)> bytes{};

	for (uint64_t i = 0; i < r->n; ++i)
		marl::schedule([pointer, bytes] {
			sink = static_cast<unsigned char>(bytes[0]);
			pointer->done();
		});
	left.wait();
	bench_elapsed(r, begin);
}

template <size_t size> void spawn_bound(bench_run *r)
{
	Bound bound(r);

	spawn<size>(r);
}

/* --- fork and join: as many tasks as workers, again and again ------------ */

const unsigned LONG = 1000000;

/* About a millisecond. */
void work()
{
	uint32_t x = 1;

	for (unsigned i = 0; i < LONG; ++i)
		x = (x << 4 | x >> 3) ^ i;
	sink = x;
}

void work_alone(bench_run *r)
{
	sennit_time begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i)
		work();
	bench_elapsed(r, begin);
}

void fork_and_join(bench_run *r)
{
	Bound           bound(r);
	marl::WaitGroup left;
	sennit_time     begin = sennit_now();

	for (uint64_t i = 0; i < r->n; ++i) {
		left.add(r->workers);
		for (uint32_t k = 0; k < r->workers; ++k)
			marl::schedule([left] {
				work();
				left.done();
			});
		left.wait();
	}
	bench_elapsed(r, begin);
}

} // namespace

const bench_row bench_marl_bound[] = {
	row({ { "W7-mutex/marl-uncontended" } }, 10000000, lock_alone,
	    BENCH_EACH, BENCH_OUTSIDE),
	row({ { "W14-life-cycle/marl-bind" } }, 1000000, bind_and_unbind,
	    BENCH_EACH, BENCH_OUTSIDE),
	row({ { "W14-life-cycle/marl-bind-alone" } }, 1000000, bind_and_unbind,
	    BENCH_NONE, BENCH_OUTSIDE),
	row({ { "W1-spawn/marl-16-bytes" } }, 1000000, spawn<16>),
	row({ { "W1-spawn/marl-32-bytes" } }, 1000000, spawn<32>),
	row({ { "W1-spawn/marl-64-bytes" } }, 1000000, spawn<64>),
	row({ { "W1-spawn/marl-16-bytes-bound" } }, 100000, spawn_bound<16>,
	    BENCH_EACH, BENCH_OUTSIDE),
	row({ { "fork-join/marl-work" } }, 200, work_alone, BENCH_NONE,
	    BENCH_OUTSIDE),
	row({ { "fork-join/marl-batches" } }, 200, fork_and_join, BENCH_EACH,
	    BENCH_OUTSIDE),
	bench_row(),
};
