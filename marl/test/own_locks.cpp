/* SPDX-License-Identifier: Apache-2.0 */
/* own_locks.cpp - the locks inside pools, tickets and events suspend no fiber:
 * each fiber that met another there would keep a stack. Every lock is held for
 * long here: the linker puts a pause before each unlock. */
#include "world.h"

#include "marl/event.h"
#include "marl/pool.h"
#include "marl/ticket.h"
#include "marl/waitgroup.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

static std::atomic<bool>     slow{ false };
static std::atomic<unsigned> unlocks{ 0 };

static void stay()
{
	if (!slow)
		return;
	if (unlocks++ % 16 == 0)
		std::this_thread::sleep_for(std::chrono::microseconds(10));
	else
		std::this_thread::yield();
}

extern "C" {

int  __real_pthread_mutex_unlock(pthread_mutex_t *m);
int  __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
void __real_sennit_mutex_unlock(sennit_mutex *m);
void __wrap_sennit_mutex_unlock(sennit_mutex *m);

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	stay();
	return __real_pthread_mutex_unlock(m);
}

void __wrap_sennit_mutex_unlock(sennit_mutex *m)
{
	stay();
	__real_sennit_mutex_unlock(m);
}
}

namespace
{

class LocksOn : public World
{
public:
	static sennit_stats stats()
	{
		sennit_stats s = {};

		s.size = sizeof(s);
		sennit_scheduler_get_stats(
			marl::Scheduler::get()->native_handle(), &s);
		return s;
	}

	/* Tasks that do this, none of which has to wait. */
	template <typename Each> void expect_no_wait(Each each)
	{
		const int          tasks = load(2000);
		marl::WaitGroup    left(static_cast<unsigned>(tasks));
		const sennit_stats before = stats();
		const unsigned     seen = unlocks;

		slow = true;
		for (int i = 0; i < tasks; ++i)
			marl::schedule([=]() mutable {
				each();
				left.done();
			});
		left.wait();
		slow = false;
		EXPECT_GE(unlocks - seen, static_cast<unsigned>(tasks));
		EXPECT_LE(stats().blocks - before.blocks, 1u); /* left.wait() */
		EXPECT_LE(stats().stacks - before.stacks,
			  2u * static_cast<unsigned>(GetParam() + 1));
	}
};
ON_WORKERS(LocksOn);

TEST_P(LocksOn, borrowers_of_enough_objects_do_not_wait)
{
	marl::BoundedPool<int, 10> pool(&memory);

	expect_no_wait([=] {
		pool.borrow();
		pool.tryBorrow();
	});
}

TEST_P(LocksOn, borrowers_of_an_unbounded_pool_do_not_wait)
{
	marl::UnboundedPool<int>                             fresh(&memory);
	marl::UnboundedPool<int, marl::PoolPolicy::Preserve> kept(&memory);

	expect_no_wait([=] {
		fresh.borrow();
		kept.borrow(2, [](marl::Loan<int> &&) {});
	});
}

TEST_P(LocksOn, takers_of_tickets_do_not_wait)
{
	marl::Ticket::Queue queue;

	expect_no_wait([=]() mutable {
		marl::Ticket ticket = queue.take();

		ticket.onCall([] {});
		ticket.done();
	});
}

TEST_P(LocksOn, followers_of_an_event_do_not_wait)
{
	marl::Event source(marl::Event::Mode::Manual, false, &memory);
	const std::array<marl::Event, 2> sources = { { source, source } };

	expect_no_wait([=] {
		marl::Event any = marl::Event::any(sources.begin(),
						   sources.end());

		source.signal();
		EXPECT_TRUE(any.isSignalled());
	});
}

/* --- what the program does while it is called -------------------------- */

struct Yielding {
	Yielding()
	{
		sennit_yield();
	}
	Yielding(const Yielding &)
	{
		sennit_yield();
	}
	~Yielding()
	{
		sennit_yield();
	}
	void operator()() const
	{
	}
};

class YieldingAllocator : public marl::Allocator
{
public:
	marl::Allocation allocate(
		const marl::Allocation::Request &request) override
	{
		sennit_yield();
		return Default->allocate(request);
	}
	void free(const marl::Allocation &allocation) override
	{
		sennit_yield();
		Default->free(allocation);
	}
};

/* On one thread, so a lock that is held meanwhile is never free again. */
template <typename Each> void meet_on_one_thread(Each each)
{
	marl::WaitGroup left(20);

	for (int i = 0; i < 20; ++i)
		marl::schedule(marl::Task(
			[=]() mutable {
				each();
				left.done();
			},
			marl::Task::Flags::SameThread));
	left.wait();
}

TEST_P(LocksOn, objects_may_wait_while_they_are_made)
{
	YieldingAllocator              slowly;
	marl::BoundedPool<Yielding, 2> bounded(&slowly);
	marl::UnboundedPool<Yielding>  fresh(&slowly);
	marl::UnboundedPool<Yielding, marl::PoolPolicy::Preserve> kept(&slowly);

	meet_on_one_thread([=] {
		bounded.borrow();
		bounded.tryBorrow();
		fresh.borrow(3, [](marl::Loan<Yielding> &&) {});
		kept.borrow(3, [](marl::Loan<Yielding> &&) {});
	});
}

TEST_P(LocksOn, functions_may_wait_while_they_are_copied)
{
	marl::Ticket::Queue queue;

	meet_on_one_thread([=]() mutable {
		marl::Ticket   ticket = queue.take();
		const Yielding call;

		ticket.onCall(call);
		ticket.onCall(call);
		sennit_yield();
		ticket.onCall(call);
	});
}

} // namespace
