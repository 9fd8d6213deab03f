/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/thread.h"

#include <pthread.h>

#include <atomic>
#include <utility>

namespace
{

using Affinity = marl::Thread::Affinity;
using Core = marl::Thread::Core;

using ThreadAlone = Alone;

static Core core(int index)
{
	Core c = {};

	c.pthread.index = static_cast<uint16_t>(index);
	return c;
}

static void expect_cores(const Affinity &a, std::initializer_list<int> cores)
{
	size_t i = 0;

	ASSERT_EQ(a.count(), cores.size());
	for (int index : cores)
		EXPECT_EQ(a[i++], core(index));
}

TEST_F(ThreadAlone, there_is_a_cpu)
{
	EXPECT_GE(marl::Thread::numLogicalCPUs(), 1u);
	EXPECT_TRUE(bool(Affinity::supported));
}

TEST_F(ThreadAlone, all_cores_are_those_of_the_thread)
{
	Affinity  all = Affinity::all(&memory);
	cpu_set_t mine;

	ASSERT_EQ(sched_getaffinity(0, sizeof(mine), &mine), 0);
	EXPECT_EQ(all.count(), size_t(CPU_COUNT(&mine)));
	for (size_t i = 0; i < all.count(); ++i)
		EXPECT_TRUE(CPU_ISSET(all[i].pthread.index, &mine));
}

TEST_F(ThreadAlone, cores_are_added_once_and_in_order)
{
	Affinity a({ core(30), core(10) }, &memory);

	a.add(Affinity({ core(20), core(10), core(40) }, &memory));
	expect_cores(a, { 10, 20, 30, 40 });
}

TEST_F(ThreadAlone, all_cores_may_be_removed)
{
	Affinity a({ core(0), core(1), core(2), core(3) }, &memory);

	a.remove(Affinity({ core(1), core(9) }, &memory));
	expect_cores(a, { 0, 2, 3 });
	a.remove(Affinity({ core(0), core(1), core(2), core(3) }, &memory));
	expect_cores(a, {});
}

TEST_F(ThreadAlone, affinities_are_made_of_lists_and_copies)
{
	marl::containers::vector<Core, 32> cores(&memory);

	cores.push_back(core(3));
	cores.push_back(core(1));

	Affinity a(cores, &memory);
	Affinity b(a, &memory);
	Affinity c(std::move(b));

	expect_cores(a, { 3, 1 });
	expect_cores(c, { 3, 1 });
	c = Affinity(&memory);
	expect_cores(c, {});
}

TEST_F(ThreadAlone, policies_choose)
{
	auto any = Affinity::Policy::anyOf(
		Affinity({ core(1), core(2) }, &memory), &memory);
	auto one = Affinity::Policy::oneOf(
		Affinity({ core(1), core(2), core(5) }, &memory), &memory);

	for (uint32_t i = 0; i < 9; ++i) {
		expect_cores(any->get(i, &memory), { 1, 2 });
		expect_cores(one->get(i, &memory), { i % 3 == 0   ? 1
						     : i % 3 == 1 ? 2
								  : 5 });
	}
}

TEST_F(ThreadAlone, cores_compare)
{
	EXPECT_TRUE(core(1) == core(1));
	EXPECT_FALSE(core(1) == core(2));
	EXPECT_TRUE(core(1) < core(2));
}

TEST_F(ThreadAlone, a_thread_runs_where_it_is_told)
{
	Affinity     all = Affinity::all(&memory);
	Core         last = all[all.count() - 1];
	marl::Thread t(Affinity({ last }, &memory), [=] {
		Affinity mine = Affinity::all();

		EXPECT_EQ(mine.count(), 1u);
		EXPECT_EQ(mine[0], last);
	});

	t.join();
	t.join();
}

TEST_F(ThreadAlone, a_thread_may_be_moved)
{
	std::atomic<int> ran{ 0 };
	marl::Thread     a(Affinity(&memory), [&] { ran++; });
	marl::Thread     b(std::move(a));
	marl::Thread     c;

	c = std::move(b);
	c.join();
	EXPECT_EQ(ran, 1);
}

TEST_F(ThreadAlone, a_name_is_cut_to_what_the_system_takes)
{
	marl::Thread t(Affinity(&memory), [] {
		char name[16];

		marl::Thread::setName("a%d", 7);
		pthread_getname_np(pthread_self(), name, sizeof(name));
		EXPECT_STREQ(name, "a7");
		marl::Thread::setName("%s", "twenty characters...");
		pthread_getname_np(pthread_self(), name, sizeof(name));
		EXPECT_STREQ(name, "twenty characte");
	});

	t.join();
}

using ThreadDeathTest = Alone;

TEST_F(ThreadDeathTest, a_thread_is_joined)
{
	EXPECT_DEATH(marl::Thread(Affinity(&memory), [] {}), "joined");
}

} // namespace
