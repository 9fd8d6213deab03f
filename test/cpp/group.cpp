/* SPDX-License-Identifier: Apache-2.0 */
/* group.cpp - an exception of a member cancels the group, and its wait rethrows
 * it. */
#include "world.hpp"

namespace
{

class groups : public world
{
};
ON_WORKERS(groups);

TEST_P(groups, wait_for_all_members)
{
	std::atomic<int> ran{ 0 };
	sennit::group    g;

	for (int i = 0; i < 50; i++)
		EXPECT_TRUE(g.spawn([&, text = std::to_string(i)] {
			sennit::this_fiber::yield();
			ran += std::stoi(text);
		}));
	EXPECT_TRUE(
		g.spawn([](int n, std::atomic<int> *r) { *r += n; }, 1, &ran));
	g.wait();
	EXPECT_EQ(ran, 1226);
}

TEST_P(groups, throw_what_a_member_has_thrown)
{
	sennit::event never_set;
	sennit::group g;

	EXPECT_TRUE(g.spawn([&] {
		EXPECT_THROW(never_set.wait(), sennit::cancelled);
		EXPECT_TRUE(sennit::this_fiber::is_cancelled());
		EXPECT_THROW(sennit::this_fiber::check_cancelled(),
			     sennit::cancelled);
		sennit::this_fiber::sleep_for(1h);
		ADD_FAILURE();
	}));
	EXPECT_TRUE(g.spawn([] { throw std::string("thrown"); }));
	EXPECT_THROW(g.wait(), std::string);
}

TEST_P(groups, throw_errors_that_members_return)
{
	sennit::group g;

	EXPECT_TRUE(g.spawn([] { return -EXDEV; }));
	try {
		g.wait();
		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code(), std::errc::cross_device_link);
	}
}

TEST_P(groups, that_are_cancelled_say_so)
{
	sennit::group g, h;

	EXPECT_TRUE(g.cancel());
	EXPECT_FALSE(g.cancel());
	EXPECT_FALSE(g.spawn([] { ADD_FAILURE(); }));
	EXPECT_THROW(g.wait(), sennit::cancelled);
	EXPECT_TRUE(h.spawn([] { throw 1; }));
	EXPECT_EQ(h.wait(std::nothrow), std::errc::state_not_recoverable);
}

TEST_P(groups, that_go_unwaited_cancel_and_wait)
{
	sennit::event    never_set;
	std::atomic<int> ended{ 0 };

	EXPECT_THROW(
		{
			sennit::group g;

			for (int i = 0; i < 5; i++)
				g.spawn([&] {
					try {
						never_set.wait();
					} catch (const sennit::cancelled &) {
						++ended;
						throw;
					}
				});
			throw std::string("on the way");
		},
		std::string);
	EXPECT_EQ(ended, 5);
}

TEST_P(groups, end_waits_at_their_deadline)
{
	sennit::event never_set;
	sennit::group g(std::chrono::steady_clock::now() + 1ms);

	EXPECT_TRUE(g.spawn([&] {
		EXPECT_THROW(never_set.wait(), sennit::timed_out);
		EXPECT_THROW(sennit::this_fiber::check_cancelled(),
			     sennit::timed_out);
	}));
	g.wait();
}

TEST_P(groups, nest_and_pass_exceptions_outwards)
{
	sennit::group outer;

	EXPECT_TRUE(outer.spawn([] {
		sennit::group inner;

		inner.spawn([] { throw std::runtime_error("within"); });
		inner.wait();
		ADD_FAILURE();
	}));
	EXPECT_THROW(outer.wait(), std::runtime_error);
}

TEST_P(groups, may_be_opened_by_other_threads)
{
	std::atomic<int> ran{ 0 };

	if (!GetParam())
		return;
	bound.reset();
	{
		sennit::group g(s);

		for (int i = 0; i < 10; i++)
			EXPECT_TRUE(g.spawn(
				[&, fill = std::string("x")] { ++ran; }));
		g.wait();
	}
	bound.emplace(s);
	EXPECT_EQ(ran, 10);
}

TEST_P(groups, keep_going_if_so_asked)
{
	std::atomic<int> ran{ 0 };
	sennit::group    g(SENNIT_GROUP_KEEP_GOING);

	for (int i = 0; i < 10; i++)
		EXPECT_TRUE(g.spawn([&] {
			++ran;
			throw 5;
		}));
	EXPECT_THROW(g.wait(), int);
	EXPECT_EQ(ran, 10);
}

} // namespace
