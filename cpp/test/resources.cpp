/* SPDX-License-Identifier: Apache-2.0 */
/* resources.cpp - CPU budgets as values. */
#include "world.hpp"

namespace
{

TEST(resources, are_held_by_every_copy_and_by_schedulers)
{
	sennit::resources none(nullptr), r(1), copy = r;
	sennit::scheduler s(sennit::config().with_workers(2).with_resources(
		r.get(), 1, 1, 3));

	EXPECT_FALSE(none);
	EXPECT_TRUE(copy.get() == r.get());
	r = none;
	EXPECT_FALSE(r);
	EXPECT_EQ(copy.stats().cpus, 1u);
	EXPECT_EQ(copy.stats().promised, 1u);
	sennit::resources moved = std::move(copy);
	EXPECT_FALSE(copy);
	EXPECT_EQ(moved.stats().schedulers, 1u);
	s.shutdown();
	EXPECT_EQ(moved.stats().schedulers, 0u);
}

TEST(resources, that_cannot_be_are_refused)
{
	EXPECT_THROW(sennit::resources r(SENNIT_WORKERS_MAX + 1),
		     std::system_error);
}

} // namespace
