/* SPDX-License-Identifier: Apache-2.0 */
/* pool.cpp - loans return automatically, and the policy determines the lifetime
 * of objects. */
#include "world.hpp"

namespace
{

class pools : public world
{
};
ON_WORKERS(pools);

struct thing {
	thing()
	{
		++made;
	}
	thing(const thing &) = delete;
	thing &operator=(const thing &) = delete;
	~thing()
	{
		++destroyed;
	}
	int                            uses = 0;
	static inline std::atomic<int> made, destroyed;
};

TEST_P(pools, keep_objects_between_loans)
{
	thing::made = thing::destroyed = 0;
	{
		sennit::pool<thing> p(2);

		p.borrow()->uses = 5;
		EXPECT_EQ(p.borrow()->uses, 5);
		EXPECT_EQ(thing::made, 1);
	}
	EXPECT_EQ(thing::destroyed, 1);
}

TEST_P(pools, make_objects_anew_if_so_asked)
{
	thing::made = thing::destroyed = 0;
	sennit::pool<thing> p(2, sennit::pool_policy::reconstruct);

	p.borrow()->uses = 5;
	EXPECT_EQ(thing::destroyed, 1);
	EXPECT_EQ(p.borrow()->uses, 0);
	EXPECT_EQ(thing::made, 2);
}

TEST_P(pools, wait_for_a_loan_to_end)
{
	sennit::pool<std::string> p(1, [] { return std::string("made"); });
	auto                      loan = p.borrow();
	sennit::event             got;

	EXPECT_EQ(*loan, "made");
	EXPECT_FALSE(p.try_borrow());
	EXPECT_FALSE(p.borrow_for(1ms));
	EXPECT_FALSE(p.borrow_until(std::chrono::system_clock::now() + 1ms));
	sennit::schedule([&] {
		auto mine = p.borrow();

		EXPECT_EQ(*mine, "written");
		mine.reset();
		EXPECT_FALSE(mine);
		got.set();
	});
	*loan = "written";
	loan = {};
	got.wait();
	EXPECT_TRUE(p.try_borrow());
	EXPECT_TRUE(p.borrow_for(1h));
}

TEST_P(pools, throw_what_making_throws)
{
	int               calls = 0;
	sennit::pool<int> p(1, [&]() -> int {
		if (++calls < 3)
			throw std::runtime_error("refused");
		return calls;
	});

	EXPECT_THROW((void)p.borrow(), std::runtime_error);
	EXPECT_THROW((void)p.try_borrow(), std::runtime_error);
	EXPECT_EQ(*p.borrow(), 3);
}

TEST_P(pools, have_an_object_at_least)
{
	EXPECT_THROW(sennit::pool<int>(0), std::system_error);
}

TEST_P(pools, without_a_limit_never_wait)
{
	struct alignas(64) wide {
		char fill[100];
	};
	sennit::pool<wide>                    p(sennit::unbounded);
	std::vector<sennit::pool<wide>::loan> loans;

	for (int i = 0; i < 100; i++) {
		loans.push_back(p.borrow());
		EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loans.back().get()) %
				  64,
			  0u);
	}
}

} // namespace
