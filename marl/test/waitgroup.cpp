/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/waitgroup.h"

#include <atomic>
#include <thread>

namespace
{

using marl::WaitGroup;

class WaitGroupOn : public World
{
};
ON_WORKERS(WaitGroupOn);

using WaitGroupAlone = Alone;

TEST_F(WaitGroupAlone, says_who_was_the_last)
{
	WaitGroup wg(2, &memory);

	EXPECT_FALSE(wg.done());
	EXPECT_TRUE(wg.done());
}

TEST_F(WaitGroupAlone, holds_up_nobody_at_zero)
{
	WaitGroup wg;

	wg.wait();
	wg.add();
	EXPECT_TRUE(wg.done());
	wg.wait();
}

TEST_F(WaitGroupAlone, may_be_used_again)
{
	WaitGroup wg(0, &memory);

	for (int i = 0; i < 3; ++i) {
		wg.add(2);
		EXPECT_FALSE(wg.done());
		EXPECT_TRUE(wg.done());
		wg.wait();
	}
}

TEST_P(WaitGroupOn, waits_for_one_task)
{
	WaitGroup         wg(1, &memory);
	std::atomic<bool> ran{ false };

	marl::schedule([=, &ran] {
		ran = true;
		wg.done();
	});
	wg.wait();
	EXPECT_TRUE(ran);
}

TEST_P(WaitGroupOn, waits_for_a_thousand_tasks)
{
	WaitGroup        wg(1000, &memory);
	std::atomic<int> ran{ 0 };
	std::atomic<int> last{ 0 };

	for (int i = 0; i < 1000; ++i)
		marl::schedule([=, &ran, &last] {
			ran++;
			if (wg.done())
				last++;
		});
	wg.wait();
	EXPECT_EQ(ran, 1000);
	while (last != 1)
		std::this_thread::yield();
}

TEST_P(WaitGroupOn, lets_several_through)
{
	WaitGroup wg(1), through(100);

	for (int i = 0; i < 100; ++i)
		marl::schedule([=] {
			wg.wait();
			through.done();
		});
	std::thread([=] { wg.done(); }).join();
	through.wait();
}

TEST_P(WaitGroupOn, may_be_destroyed_by_whoever_it_let_through)
{
	for (int i = 0; i < load(1000); ++i) {
		auto *wg = new WaitGroup(1, &memory);

		marl::schedule([wg] { wg->done(); });
		wg->wait();
		delete wg;
	}
}

TEST_P(WaitGroupOn, is_of_use_after_it_was_moved_from)
{
	WaitGroup a(1);
	WaitGroup b(std::move(a));

	marl::schedule([b] { b.done(); });
	a.wait(); /* as with marl */
}

using WaitGroupDeathTest = Alone;

TEST_F(WaitGroupDeathTest, is_never_below_zero)
{
	WaitGroup wg;

	EXPECT_DEATH(wg.done(), "misuse of sennit_wait_group_done: "
				"done\\(\\) called too many times");
}

} // namespace
