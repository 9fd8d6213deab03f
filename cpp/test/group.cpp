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

TEST_P(groups, are_waited_for_again_and_again)
{
	sennit::event go_on;
	sennit::group g;

	EXPECT_TRUE(g.wait_for(1h));
	for (std::uint32_t n = 1; n < 10; n++) {
		for (std::uint32_t i = 0; i < n; i++)
			EXPECT_TRUE(g.spawn([&] { go_on.wait(); }));
		EXPECT_FALSE(g.wait_for(10us));
		EXPECT_FALSE(g.wait_until(std::chrono::system_clock::now()));
		EXPECT_EQ(g.size(), n);
		go_on.set();
		EXPECT_TRUE(g.wait_until(sennit::never));
		EXPECT_EQ(g.size(), 0u);
		go_on.clear();
	}
	g.wait();
}

TEST_P(groups, are_not_waited_for_by_members_that_are_cancelled)
{
	sennit::event begun, release;
	sennit::group outer;

	EXPECT_TRUE(outer.spawn([&] {
		sennit::group inner;

		EXPECT_TRUE(inner.spawn([&] {
			EXPECT_TRUE(release.wait_until(sennit::uncancelled));
		}));
		begun.set();
		EXPECT_THROW(static_cast<void>(inner.wait_for(1h)),
			     sennit::cancelled);
		EXPECT_THROW(static_cast<void>(inner.wait_until(sennit::never)),
			     sennit::cancelled);
		release.set();
	}));
	begun.wait();
	outer.cancel();
	EXPECT_THROW(outer.wait(), sennit::cancelled);
}

/* A server that stops: connections end by themselves, and the rest is ended. */
TEST_P(groups, drain_until_a_deadline)
{
	sennit::event    last_word, never_set;
	std::atomic<int> ended{ 0 }, cancelled{ 0 };

	for (bool some_hang : { false, true }) {
		sennit::group connections;

		for (int i = 0; i < 4; i++)
			connections.spawn([&] {
				last_word.wait();
				++ended;
			});
		for (int i = 0; i < 3 && some_hang; i++)
			connections.spawn([&] {
				try {
					never_set.wait();
				} catch (const sennit::cancelled &) {
					++cancelled;
					throw;
				}
			});
		last_word.set();
		if (!some_hang)
			EXPECT_TRUE(connections.drain_for(1h));
		else
			EXPECT_FALSE(connections.drain_until(
				std::chrono::system_clock::now() + 1ms));
	}
	EXPECT_EQ(ended, 8);
	EXPECT_EQ(cancelled, 3);
}

TEST_P(groups, that_drain_throw_what_a_member_has_thrown)
{
	sennit::event never_set;
	sennit::group g, h;

	EXPECT_TRUE(g.spawn([&] { throw std::string("thrown"); }));
	EXPECT_THROW(static_cast<void>(g.drain_for(1h)), std::string);
	EXPECT_TRUE(h.spawn([&] {
		try {
			never_set.wait();
		} catch (const sennit::cancelled &) {
			throw std::string("while it ends");
		}
	}));
	EXPECT_THROW(static_cast<void>(h.drain_for(1us)), std::string);
}

TEST_P(groups, get_earlier_deadlines)
{
	sennit::event never_set;
	sennit::group g(std::chrono::steady_clock::now() + 1h);

	EXPECT_TRUE(g.spawn([&] { never_set.wait(); }));
	g.set_deadline(std::chrono::steady_clock::now() + 2h);
	EXPECT_FALSE(g.wait_for(1ms));
	g.set_deadline(std::chrono::system_clock::now() + 1ms);
	EXPECT_THROW(g.wait(), sennit::timed_out);
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

/* A number is no flag, and neither is what the author of group g{ 5 } meant. */
static_assert(!std::is_constructible_v<sennit::group, int>);
static_assert(!std::is_constructible_v<sennit::group, unsigned>);

TEST_P(groups, keep_going_if_so_asked)
{
	constexpr auto both = sennit::group_flags::keep_going |
			      sennit::group_flags::own_stacks;

	static_assert(static_cast<std::uint32_t>(both) ==
		      (SENNIT_GROUP_KEEP_GOING | SENNIT_GROUP_OWN_STACKS));
	std::atomic<int> ran{ 0 };
	sennit::group    g(sennit::group_flags::keep_going);

	for (int i = 0; i < 10; i++)
		EXPECT_TRUE(g.spawn([&] {
			++ran;
			throw 5;
		}));
	EXPECT_THROW(g.wait(), int);
	EXPECT_EQ(ran, 10);
}

} // namespace
