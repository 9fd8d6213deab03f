/* SPDX-License-Identifier: Apache-2.0 */
/* waits.cpp - events, wait groups, sleep; times of any clock as deadlines. */
#include "world.hpp"

namespace
{

class waits : public world
{
};
ON_WORKERS(waits);

TEST_P(waits, manual_events_let_all_pass)
{
	sennit::event      e;
	sennit::wait_group done(10);

	for (int i = 0; i < 10; i++)
		sennit::schedule([&] {
			e.wait();
			done.done();
		});
	EXPECT_FALSE(e.try_wait());
	e.set();
	done.wait();
	EXPECT_TRUE(e.is_set());
	EXPECT_TRUE(e.try_wait());
	e.clear();
	EXPECT_FALSE(e.is_set());
}

TEST_P(waits, automatic_events_let_one_pass)
{
	sennit::event e(sennit::event_mode::automatic, true);

	EXPECT_TRUE(e.try_wait());
	EXPECT_FALSE(e.try_wait());
	e.set();
	e.wait();
	EXPECT_FALSE(e.wait_for(0s));
}

TEST_P(waits, end_at_times_of_any_clock)
{
	sennit::event e;

	in_each_place([&] {
		EXPECT_FALSE(e.wait_for(1ms));
		EXPECT_FALSE(e.wait_for(-1h));
		EXPECT_FALSE(e.wait_for(std::chrono::duration<double>(1e-3)));
		EXPECT_FALSE(
			e.wait_until(std::chrono::steady_clock::now() + 1ms));
		EXPECT_FALSE(
			e.wait_until(std::chrono::system_clock::now() + 1ms));
		EXPECT_FALSE(
			e.wait_until(std::chrono::system_clock::time_point()));
	});
	e.set();
	in_each_place([&] {
		EXPECT_TRUE(e.wait_for(0s));
		EXPECT_TRUE(e.wait_for(std::chrono::hours::max()));
		EXPECT_TRUE(e.wait_for(std::chrono::nanoseconds::max()));
		EXPECT_TRUE(e.wait_until(sennit::never));
	});
}

/* A clock that is set back while a thread waits for one of its times. */
struct jumping_clock {
	using duration = std::chrono::milliseconds;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<jumping_clock>;
	[[maybe_unused]] static constexpr bool is_steady = false;
	static inline int                      looks;

	static time_point now()
	{
		return time_point(looks++ < 2 ? 100ms : 110ms);
	}
};

TEST_P(waits, end_only_when_their_own_clock_says_so)
{
	sennit::event e;

	jumping_clock::looks = 0;
	EXPECT_FALSE(e.wait_until(jumping_clock::time_point(105ms)));
	EXPECT_GE(jumping_clock::looks, 3);
}

TEST(times, of_the_steady_clock_are_those_of_the_library)
{
	using sennit::detail::nanoseconds_of;
	const auto before = std::chrono::steady_clock::now();
	const auto now = sennit_now();
	const auto after = std::chrono::steady_clock::now();

	EXPECT_LE(nanoseconds_of(before.time_since_epoch()), now);
	EXPECT_GE(nanoseconds_of(after.time_since_epoch()), now);
}

TEST(times, saturate_and_round_up)
{
	using namespace std::chrono;
	using sennit::detail::nanoseconds_of;
	using picoseconds = duration<long, std::pico>;

	EXPECT_EQ(nanoseconds_of(-1s), 0u);
	EXPECT_EQ(nanoseconds_of(0s), 0u);
	EXPECT_EQ(nanoseconds_of(picoseconds(1)), 1u);
	EXPECT_EQ(nanoseconds_of(picoseconds(1001)), 2u);
	EXPECT_EQ(nanoseconds_of(duration<double>(1e-12)), 1u);
	EXPECT_EQ(nanoseconds_of(1h), 3600000000000u);
	EXPECT_EQ(nanoseconds_of(hours::max()), SENNIT_NEVER);
	EXPECT_EQ(nanoseconds_of(hours::min()), 0u);
	EXPECT_EQ(nanoseconds_of(nanoseconds::max()), SENNIT_NEVER);
	EXPECT_EQ(nanoseconds_of(duration<double>(1e300)), SENNIT_NEVER);
	EXPECT_EQ(nanoseconds_of(sennit::never.time_since_epoch()),
		  SENNIT_NEVER);
}

TEST_P(waits, for_groups_end_at_zero)
{
	sennit::wait_group g(1);

	EXPECT_FALSE(g.try_wait());
	EXPECT_FALSE(g.wait_for(1ms));
	EXPECT_FALSE(g.wait_until(std::chrono::system_clock::now() + 1ms));
	g.add(2);
	for (int i = 0; i < 3; i++)
		sennit::schedule([&] { g.done(); });
	g.wait();
	EXPECT_TRUE(g.try_wait());
}

TEST_P(waits, for_groups_count_what_tasks_hold)
{
	sennit::wait_group g;
	std::atomic<int>   ran{ 0 };

	for (int i = 0; i < 20; i++)
		sennit::schedule([&, held = sennit::wait_group::share(g)] {
			if (++ran % 2)
				sennit::this_fiber::yield();
		});
	g.wait();
	EXPECT_EQ(ran, 20);
}

TEST_P(waits, may_be_for_time_alone)
{
	in_each_place([] {
		const auto begin = std::chrono::steady_clock::now();

		sennit::this_fiber::sleep_for(2ms);
		sennit::this_fiber::sleep_until(
			std::chrono::system_clock::now() + 1ms);
		EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
		sennit::this_fiber::sleep_for(-1s);
	});
}

} // namespace
