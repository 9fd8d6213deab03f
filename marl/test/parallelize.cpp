/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/parallelize.h"

#include <atomic>
#include <thread>

namespace
{

class ParallelizeOn : public World
{
};
ON_WORKERS(ParallelizeOn);

TEST_P(ParallelizeOn, returns_when_all_functions_have)
{
	std::atomic<int> sum{ 0 };

	marl::parallelize([&] { sum += 1; }, [&] { sum += 10; },
			  [&] { sum += 100; }, [&] { sum += 1000; });
	EXPECT_EQ(sum, 1111);
}

TEST_P(ParallelizeOn, runs_the_first_function_on_the_caller)
{
	auto *me = marl::Scheduler::Fiber::current();

	marl::parallelize(
		[=] { EXPECT_EQ(marl::Scheduler::Fiber::current(), me); },
		[=] { EXPECT_NE(marl::Scheduler::Fiber::current(), me); });
	marl::parallelize([] {});
}

TEST_P(ParallelizeOn, runs_functions_that_wait_for_each_other)
{
	marl::Event a, b, c;

	marl::parallelize(
		[=] {
			a.signal();
			c.wait();
		},
		[=] {
			a.wait();
			b.signal();
		},
		[=] {
			b.wait();
			c.signal();
		});
}

static int sum_of(int from, int to)
{
	int left = 0, right = 0, middle = from + (to - from) / 2;

	if (to - from == 1)
		return from;
	marl::parallelize([&] { left = sum_of(from, middle); },
			  [&] { right = sum_of(middle, to); });
	return left + right;
}

TEST_P(ParallelizeOn, may_be_nested)
{
	EXPECT_EQ(sum_of(0, 500), 500 * 499 / 2);
}

} // namespace
