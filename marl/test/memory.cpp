/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/memory.h"

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace
{

using marl::Allocation;
using marl::Allocator;

using MemoryAlone = Alone;

static Allocation::Request request(size_t size, size_t alignment, bool guards)
{
	Allocation::Request r;

	r.size = size;
	r.alignment = alignment;
	r.useGuards = guards;
	return r;
}

TEST_F(MemoryAlone, is_as_large_and_as_aligned_as_asked_for)
{
	for (bool guards : { false, true })
		for (size_t alignment = 1; alignment <= 128; alignment *= 2)
			for (size_t size : { 1u, 2u, 31u, 64u, 513u, 5000u }) {
				Allocation a = memory.allocate(
					request(size, alignment, guards));

				EXPECT_EQ(a.request.size, size);
				EXPECT_EQ(reinterpret_cast<uintptr_t>(a.ptr) %
						  alignment,
					  0u);
				std::memset(a.ptr, 0xa5, size);
				memory.free(a);
			}
}

TEST_F(MemoryAlone, rounds_up)
{
	EXPECT_EQ(marl::alignUp(0, 8), 0);
	EXPECT_EQ(marl::alignUp(1, 8), 8);
	EXPECT_EQ(marl::alignUp(8, 8), 8);
	EXPECT_EQ(marl::alignUp<size_t>(13, 6), 18u);
	EXPECT_GE(marl::pageSize(), 4096u);
}

TEST_F(MemoryAlone, has_storage_of_any_alignment)
{
	using Storage = marl::aligned_storage<24, 64>::type;

	EXPECT_GE(sizeof(Storage), 24u);
	EXPECT_EQ(alignof(Storage), 64u);
}

struct Counting {
	static int made, gone, throw_at;

	Counting()
	{
		if (made == throw_at)
			throw std::runtime_error("enough");
		made++;
	}
	explicit Counting(int) : Counting()
	{
	}
	~Counting()
	{
		gone++;
	}

	static void reset()
	{
		made = gone = 0;
		throw_at = -1;
	}
};
int Counting::made, Counting::gone, Counting::throw_at;

TEST_F(MemoryAlone, makes_and_destroys_objects)
{
	struct alignas(16) Thing {
		explicit Thing(int *counter_) : counter(counter_)
		{
			++*counter;
		}
		~Thing()
		{
			--*counter;
		}
		int *counter;
	};
	int    alive = 0;
	Thing *thing = memory.create<Thing>(&alive);

	EXPECT_EQ(alive, 1);
	EXPECT_EQ(
		memory.stats().byUsage[size_t(Allocation::Usage::Create)].bytes,
		sizeof(Thing));
	memory.destroy(thing);
	EXPECT_EQ(alive, 0);
	memory.make_unique<Thing>(&alive);
	EXPECT_EQ(alive, 0);
	{
		std::shared_ptr<Thing> a = memory.make_shared<Thing>(&alive);
		std::shared_ptr<Thing> b = a;

		EXPECT_EQ(alive, 1);
	}
	EXPECT_EQ(alive, 0);
}

TEST_F(MemoryAlone, makes_and_destroys_every_object_of_a_row)
{
	Counting::reset();
	{
		auto row = memory.make_unique_n<Counting>(5, 1);

		EXPECT_EQ(Counting::made, 5);
		EXPECT_EQ(memory.stats().bytesAllocated(),
			  5 * sizeof(Counting));
		EXPECT_EQ(memory.make_unique_n<Counting>(0).get(), nullptr);
	}
	EXPECT_EQ(Counting::gone, 5);
}

TEST_F(MemoryAlone, gives_back_what_a_constructor_did_not_finish)
{
	Counting::reset();
	Counting::throw_at = 3;
	EXPECT_THROW(memory.make_unique_n<Counting>(5), std::runtime_error);
	EXPECT_EQ(Counting::gone, 3);
	EXPECT_THROW(memory.create<Counting>(), std::runtime_error);
	EXPECT_EQ(memory.stats().numAllocations(), 0u);
}

TEST_F(MemoryAlone, counts_by_usage)
{
	Allocation::Request r = request(100, 8, false);

	r.usage = Allocation::Usage::List;
	Allocation a = memory.allocate(r);
	auto       stats = memory.stats();

	EXPECT_EQ(stats.numAllocations(), 1u);
	EXPECT_EQ(stats.bytesAllocated(), 100u);
	EXPECT_EQ(stats.byUsage[size_t(Allocation::Usage::List)].count, 1u);
	EXPECT_EQ(stats.byUsage[size_t(Allocation::Usage::Stl)].count, 0u);
	memory.free(a);
}

TEST_F(MemoryAlone, serves_the_containers_of_the_standard_library)
{
	using Pair = std::pair<const int, int>;
	std::vector<int, marl::StlAllocator<int>>                    v(&memory);
	std::map<int, int, std::less<int>, marl::StlAllocator<Pair>> m(&memory);

	for (int i = 0; i < 100; ++i) {
		v.push_back(i);
		m[i] = i * i;
	}
	EXPECT_EQ(v[99], 99);
	EXPECT_EQ(m[9], 81);
	EXPECT_GT(memory.stats().byUsage[size_t(Allocation::Usage::Stl)].count,
		  100u);

	auto w = std::move(v);

	EXPECT_EQ(w.size(), 100u);
	EXPECT_EQ(marl::StlAllocator<int>(&memory),
		  marl::StlAllocator<char>(&memory));
	EXPECT_NE(marl::StlAllocator<int>(&memory),
		  marl::StlAllocator<int>(Allocator::Default));
}

/* Runs before main, and must be able to use the default allocator. */
static const bool early = [] {
	Allocator *a = Allocator::Default;
	int       *n = a->create<int>(5);
	bool       right = *n == 5;

	a->destroy(n);
	return right;
}();

TEST_F(MemoryAlone, is_there_before_main)
{
	EXPECT_TRUE(early);
}

using MemoryDeathTest = Alone;

TEST_F(MemoryDeathTest, faults_on_both_sides_if_guarded)
{
	Allocation a = memory.allocate(request(16, 16, true));
	auto      *bytes = static_cast<volatile unsigned char *>(a.ptr);

	EXPECT_DEATH(bytes[-1] = 1, "");
	EXPECT_DEATH(bytes[marl::pageSize()] = 1, "");
	memory.free(a);
}

TEST_F(MemoryDeathTest, that_was_not_allocated_is_not_taken_back)
{
	Allocation a;

	a.request = request(8, 8, false);
	EXPECT_DEATH(memory.free(a), "did not allocate");
}

} // namespace
