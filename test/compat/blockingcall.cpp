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

/* marl b8406ab: the same without the limit; it has a thread for each call. */
TEST_F(Alone, three_hundred_blocking_calls_may_wait_for_each_other)
{
	marl::Scheduler         s(marl::Scheduler::Config()
					  .setAllocator(&memory)
					  .setMaxBlockingThreads(300)
					  .setWorkerThreadCount(2));
	std::mutex              lock;
	std::condition_variable came;
	int                     inside = 0;
	marl::WaitGroup         left(300);

	s.bind();
	for (int i = 0; i < 300; ++i)
		marl::schedule([&, left] {
			marl::blocking_call([&] {
				std::unique_lock<std::mutex> held(lock);

				inside++;
				came.notify_all();
				came.wait(held, [&] { return inside == 300; });
			});
			left.done();
		});
	left.wait();
	marl::Scheduler::unbind();
}

/* Each of these calls waits for the one inside it. */
static int call_inside(int depth)
{
	return depth == 0 ? 0 : marl::blocking_call([=] {
		return 1 + call_inside(depth - 1);
	});
}

/* marl b8406ab: the same without the limit. */
TEST_F(Alone, blocking_calls_may_be_nested_257_deep)
{
	marl::Scheduler s(marl::Scheduler::Config()
				  .setAllocator(&memory)
				  .setMaxBlockingThreads(257)
				  .setWorkerThreadCount(1));

	s.bind();
	EXPECT_EQ(call_inside(257), 257);
	marl::Scheduler::unbind();
}

TEST_F(Alone, a_blocking_call_needs_no_scheduler)
{
	EXPECT_EQ(marl::blocking_call([] { return 5; }), 5);
}

} // namespace
