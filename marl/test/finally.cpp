/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/defer.h"
#include "marl/finally.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <string>

namespace
{

class FinallyOn : public World
{
};
ON_WORKERS(FinallyOn);

using FinallyAlone = Alone;

TEST_F(FinallyAlone, defer_runs_at_the_end_of_the_scope)
{
	bool ran = false;
	{
		defer(ran = true);
		EXPECT_FALSE(ran);
	}
	EXPECT_TRUE(ran);
}

TEST_F(FinallyAlone, defer_runs_the_last_first)
{
	std::string order;
	{
		defer(order += 'a');
		defer(order += 'b');
		defer({
			order += 'c';
			order += 'd';
		});
	}
	EXPECT_EQ(order, "cdba");
}

TEST_F(FinallyAlone, runs_once_however_often_it_is_moved)
{
	int ran = 0;
	{
		auto a = marl::make_finally([&] { ran++; });
		auto b = std::move(a);
		auto c = std::move(b);
	}
	EXPECT_EQ(ran, 1);
}

TEST_F(FinallyAlone, takes_a_function_that_has_a_name)
{
	int  ran = 0;
	auto f = [&] { ran++; };
	{
		auto a = marl::make_finally(f);
		auto b = marl::make_shared_finally(f);
	}
	EXPECT_EQ(ran, 2);
}

TEST_P(FinallyOn, shared_runs_when_the_last_task_has_let_go)
{
	std::atomic<int> ran{ 0 };
	std::atomic<int> done{ 0 };

	{
		std::shared_ptr<marl::Finally> last =
			marl::make_shared_finally([&] { done = ran.load(); });

		for (int i = 0; i < 10; ++i)
			marl::schedule([&ran, last] { ran++; });
	}
	marl::Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(done, 10);
}

} // namespace
