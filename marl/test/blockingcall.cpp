/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/blockingcall.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace
{

class BlockingCallOn : public World
{
};
ON_WORKERS(BlockingCallOn);

TEST_P(BlockingCallOn, lets_its_worker_go_on)
{
	auto            lock = std::make_shared<std::mutex>();
	marl::WaitGroup left(100);

	lock->lock();
	for (int i = 0; i < 100; ++i)
		marl::schedule([=] {
			marl::blocking_call([=] {
				lock->lock();
				lock->unlock();
			});
			left.done();
		});
	lock->unlock();
	left.wait();
}

TEST_P(BlockingCallOn, returns_what_the_function_does)
{
	marl::WaitGroup left(50);

	for (int i = 0; i < 50; ++i)
		marl::schedule([=] {
			EXPECT_EQ(marl::blocking_call([=] { return i * i; }),
				  i * i);
			left.done();
		});
	left.wait();
}

TEST_P(BlockingCallOn, passes_arguments)
{
	std::string text = "text";

	EXPECT_EQ(
		marl::blocking_call([](const std::string &s,
				       int n) { return s + std::to_string(n); },
				    text, 7),
		"text7");
}

TEST_P(BlockingCallOn, returns_what_cannot_be_made_of_nothing)
{
	struct Whole {
		explicit Whole(int v) : value(v)
		{
		}
		std::unique_ptr<int> moved;
		int                  value;
	};
	int  here = 5;
	int &same = marl::blocking_call([&]() -> int & { return here; });

	EXPECT_EQ(marl::blocking_call([] { return Whole(7); }).value, 7);
	EXPECT_EQ(&same, &here);
}

TEST_P(BlockingCallOn, runs_on_another_thread)
{
	auto here = std::this_thread::get_id();

	EXPECT_NE(
		marl::blocking_call([] { return std::this_thread::get_id(); }),
		here);
	EXPECT_EQ(std::this_thread::get_id(), here);
}

TEST_P(BlockingCallOn, may_schedule_and_wait)
{
	std::atomic<int> ran{ 0 };

	marl::blocking_call([&] {
		marl::WaitGroup left(10);

		EXPECT_EQ(marl::Scheduler::get(), scheduler.get());
		for (int i = 0; i < 10; ++i)
			marl::schedule([=, &ran] {
				ran++;
				left.done();
			});
		left.wait();
	});
	EXPECT_EQ(ran, 10);
}

TEST_P(BlockingCallOn, throws_what_the_function_does)
{
	EXPECT_THROW(marl::blocking_call([] { throw std::runtime_error("x"); }),
		     std::runtime_error);
}

/* Calls that end when so many are there. */
static void meet(int all)
{
	std::mutex              lock;
	std::condition_variable came;
	int                     inside = 0;
	marl::WaitGroup         left(static_cast<unsigned>(all));

	for (int i = 0; i < all; ++i)
		marl::schedule([&, left] {
			marl::blocking_call([&] {
				std::unique_lock<std::mutex> held(lock);

				inside++;
				came.notify_all();
				came.wait(held, [&] { return inside == all; });
			});
			left.done();
		});
	left.wait();
}

/* marl b8406ab: the same; it starts a thread for each call. */
TEST_P(BlockingCallOn, three_hundred_may_wait_for_each_other)
{
	meet(300);
}

/* marl b8406ab: has no such limit. */
TEST_F(Alone, as_many_as_the_limit_may_wait_for_each_other)
{
	marl::Scheduler s(marl::Scheduler::Config()
				  .setAllocator(&memory)
				  .setMaxBlockingThreads(300)
				  .setWorkerThreadCount(2));

	s.bind();
	meet(300);
	marl::Scheduler::unbind();
}

/* Each of these calls waits for the one inside it. */
static int call_inside(int depth)
{
	return depth == 0 ? 0 : marl::blocking_call([=] {
		return 1 + call_inside(depth - 1);
	});
}

/* marl b8406ab: the same. */
TEST_P(BlockingCallOn, may_be_nested_257_deep)
{
	EXPECT_EQ(call_inside(257), 257);
}

/* marl b8406ab: the same. */
TEST_F(Alone, blocking_calls_may_be_nested_a_thousand_deep)
{
	marl::Scheduler s(marl::Scheduler::Config()
				  .setAllocator(&memory)
				  .setWorkerThreadCount(1));

	s.bind();
	EXPECT_EQ(call_inside(1000), 1000);
	marl::Scheduler::unbind();
}

using BlockingCallDeathTest = Alone;

/* marl b8406ab: has no limit, and so no failure. */
TEST_F(BlockingCallDeathTest, a_call_that_cannot_begin_in_time_ends_the_process)
{
	EXPECT_DEATH(
		{
			marl::Scheduler s(marl::Scheduler::Config()
						  .setMaxBlockingThreads(2, 1)
						  .setWorkerThreadCount(2));
			s.bind();
			meet(3);
		},
		"misuse.*each of the 2 threads is in a call, and none has "
		"ended for 1 ms \\(max_blocking_threads and "
		"blocking_fail_ms");
}

TEST_F(Alone, a_blocking_call_needs_no_scheduler)
{
	EXPECT_EQ(marl::blocking_call([] { return 5; }), 5);
}

} // namespace
