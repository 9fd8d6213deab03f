/* SPDX-License-Identifier: Apache-2.0 */
/* domain.cpp - domains and weak handles as values. */
#include "world.hpp"
#include "sennit/cpp/domain.hpp"
#include "sennit/cpp/weak.hpp"

namespace
{

class domains : public world
{
};
ON_WORKERS(domains);

TEST_P(domains, tell_when_all_that_belongs_to_them_is_done)
{
	sennit::event    ended;
	std::atomic<int> ran{ 0 };

	{
		sennit::domain d(s, [&] {
			EXPECT_EQ(ran, 101);
			ended.set();
		});

		EXPECT_TRUE(d);
		d.schedule([&] {
			for (int i = 0; i < 100; i++)
				sennit::schedule([&] { ++ran; });
			++ran;
		});
	}
	ended.wait();
}

TEST_P(domains, are_held_by_every_copy)
{
	std::atomic<int> ends{ 0 };
	sennit::domain   d(
		  s, [&, owned = std::make_unique<int>(1)] { ends += *owned; });
	sennit::domain copy = d, moved = std::move(d);

	EXPECT_FALSE(d);
	EXPECT_TRUE(copy == moved);
	EXPECT_TRUE(copy != d);
	copy = sennit::domain();
	EXPECT_EQ(ends, 0);
	moved = sennit::domain();
	EXPECT_EQ(ends, 1);
}

TEST_P(domains, are_known_to_their_tasks)
{
	sennit::event  ran;
	sennit::domain d(s);

	EXPECT_FALSE(sennit::domain::current());
	EXPECT_FALSE(d.try_schedule(
		[&](int n, std::unique_ptr<int> owned) {
			EXPECT_TRUE(sennit::domain::current() == d);
			EXPECT_EQ(n + *owned, 3);
			ran.set();
		},
		1, std::make_unique<int>(2)));
	ran.wait();
}

class weak_schedulers : public world
{
};
ON_WORKERS(weak_schedulers);

TEST_P(weak_schedulers, lock_what_has_not_ended)
{
	sennit::scheduler      other(sennit::config().with_workers(workers()));
	sennit::weak_scheduler w(other), none, copy = w;
	std::atomic<int>       told{ 0 };

	EXPECT_FALSE(none);
	EXPECT_FALSE(none.lock());
	EXPECT_TRUE(w.lock() == other);
	w.on_end([&] { ++told; });
	EXPECT_EQ(told, 0);
	other.shutdown();
	EXPECT_EQ(told, 1);
	EXPECT_FALSE(copy.lock());
	copy.on_end([&] { ++told; });
	EXPECT_EQ(told, 2);
}

} // namespace
