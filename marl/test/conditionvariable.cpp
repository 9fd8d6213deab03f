/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/conditionvariable.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <stdexcept>
#include <thread>

namespace
{

using marl::ConditionVariable;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

class ConditionVariableOn : public World
{
public:
	marl::mutex       mutex;
	ConditionVariable changed{ &memory };
	int               value = 0;

	void set(int to)
	{
		marl::lock lock(mutex);

		value = to;
		changed.notify_all();
	}

	void wait_for_value(int wanted)
	{
		marl::lock lock(mutex);

		changed.wait(lock, [&] { return value == wanted; });
		EXPECT_EQ(value, wanted);
		EXPECT_TRUE(lock.owns_lock());
	}
};
ON_WORKERS(ConditionVariableOn);

using ConditionVariableAlone = Alone;

TEST_P(ConditionVariableOn, does_not_wait_for_what_holds)
{
	marl::lock lock(mutex);

	changed.wait(lock, [] { return true; });
	EXPECT_TRUE(
		changed.wait_for(lock, milliseconds(0), [] { return true; }));
}

TEST_P(ConditionVariableOn, wakes_fibers_by_fibers)
{
	marl::WaitGroup left(2);

	marl::schedule([this, left] {
		wait_for_value(1);
		set(2);
		left.done();
	});
	marl::schedule([this, left] {
		set(1);
		wait_for_value(2);
		left.done();
	});
	left.wait();
}

TEST_P(ConditionVariableOn, wakes_fibers_and_threads_by_each_other)
{
	std::thread thread([this] {
		wait_for_value(1);
		set(2);
		wait_for_value(3);
	});

	set(1);
	wait_for_value(2);
	set(3);
	thread.join();
}

TEST_P(ConditionVariableOn, wakes_one_waiter_for_each_notify)
{
	int             tokens = 0;
	marl::WaitGroup through(4);

	for (int i = 0; i < 4; ++i)
		marl::schedule([&, through] {
			{
				marl::lock lock(mutex);

				changed.wait(lock, [&] { return tokens > 0; });
				tokens--;
			}
			through.done();
		});
	marl::schedule([&] {
		for (int i = 0; i < 4; ++i) {
			marl::lock lock(mutex);

			tokens++;
			changed.notify_one();
		}
	});
	through.wait();
	EXPECT_EQ(tokens, 0);
}

TEST_P(ConditionVariableOn, wakes_all)
{
	marl::WaitGroup through(100);

	for (int i = 0; i < 100; ++i)
		marl::schedule([this, through] {
			wait_for_value(5);
			through.done();
		});
	marl::schedule([this] { set(5); });
	through.wait();
}

TEST_P(ConditionVariableOn, gives_up_at_the_deadline)
{
	marl::lock lock(mutex);
	auto       begin = steady_clock::now();

	EXPECT_FALSE(
		changed.wait_for(lock, milliseconds(10), [] { return false; }));
	EXPECT_GE(steady_clock::now() - begin, milliseconds(10));
	EXPECT_FALSE(changed.wait_until(lock,
					system_clock::now() + milliseconds(1),
					[] { return false; }));
	EXPECT_FALSE(changed.wait_until(lock,
					steady_clock::now() + milliseconds(1),
					[] { return false; }));
	EXPECT_TRUE(lock.owns_lock());
}

TEST_P(ConditionVariableOn, says_what_holds_at_the_deadline)
{
	marl::lock lock(mutex);
	int        looks = 0;

	EXPECT_TRUE(changed.wait_for(lock, milliseconds(1),
				     [&] { return ++looks > 1; }));
}

TEST_P(ConditionVariableOn, lets_the_lock_go_while_it_waits)
{
	marl::schedule([this] { set(1); });
	wait_for_value(1);
}

TEST_P(ConditionVariableOn, lets_exceptions_of_the_predicate_through)
{
	marl::lock lock(mutex);

	EXPECT_THROW(
		changed.wait(lock,
			     []() -> bool { throw std::runtime_error("x"); }),
		std::runtime_error);
	EXPECT_TRUE(lock.owns_lock());
}

TEST_F(ConditionVariableAlone, works_between_threads_that_are_not_bound)
{
	marl::mutex       mutex;
	ConditionVariable changed(&memory);
	int               turn = 0;

	auto play = [&](int me) {
		for (int i = 0; i < 100; ++i) {
			marl::lock lock(mutex);

			changed.wait(lock, [&] { return turn % 2 == me; });
			turn++;
			changed.notify_one();
		}
	};
	std::thread other(play, 1);

	play(0);
	other.join();
	EXPECT_EQ(turn, 200);
}

} // namespace
