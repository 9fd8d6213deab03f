/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/blockingcall.h"
#include "marl/waitgroup.h"

#include <atomic>
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

TEST_F(Alone, a_blocking_call_needs_no_scheduler)
{
	EXPECT_EQ(marl::blocking_call([] { return 5; }), 5);
}

} // namespace
