/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/pool.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

namespace
{

using marl::BoundedPool;
using marl::Loan;
using marl::PoolPolicy;
using marl::UnboundedPool;

class PoolOn : public World
{
};
ON_WORKERS(PoolOn);

using PoolAlone = Alone;

/* Counts its instances; its constructor throws `failures` times. */
struct Thing {
	static std::atomic<int> made, gone, failures;

	Thing()
	{
		if (failures > 0) {
			failures--;
			throw std::runtime_error("not made");
		}
		made++;
	}
	~Thing()
	{
		gone++;
	}

	int value = 0;
};
std::atomic<int> Thing::made, Thing::gone, Thing::failures;

class ThingsAlone : public Alone
{
public:
	void SetUp() override
	{
		Alone::SetUp();
		Thing::made = Thing::gone = Thing::failures = 0;
	}
};

template <typename Pool> static void expect_reconstruction(const Pool &pool)
{
	EXPECT_EQ(Thing::made, 0);
	{
		auto a = pool.borrow();
		auto b = pool.borrow();

		EXPECT_EQ(a->value, 0);
		a->value = 5;
		EXPECT_EQ(Thing::made, 2);
	}
	EXPECT_EQ(Thing::gone, 2);
	EXPECT_EQ(pool.borrow()->value, 0);
	EXPECT_EQ(Thing::made, 3);
}

TEST_F(ThingsAlone, a_bounded_pool_makes_objects_when_they_are_borrowed)
{
	expect_reconstruction(BoundedPool<Thing, 2>(&memory));
	EXPECT_EQ(Thing::gone, 3);
}

TEST_F(ThingsAlone, an_unbounded_pool_makes_objects_when_they_are_borrowed)
{
	expect_reconstruction(UnboundedPool<Thing>(&memory));
	EXPECT_EQ(Thing::gone, 3);
}

TEST_F(ThingsAlone, a_bounded_pool_preserves_objects)
{
	{
		BoundedPool<Thing, 1, PoolPolicy::Preserve> pool(&memory);

		EXPECT_EQ(Thing::made, 1);
		pool.borrow()->value = 5;
		EXPECT_EQ(pool.borrow()->value, 5);
		EXPECT_EQ(Thing::gone, 0);
	}
	EXPECT_EQ(Thing::gone, 1);
}

TEST_F(ThingsAlone, an_unbounded_pool_preserves_objects)
{
	{
		UnboundedPool<Thing, PoolPolicy::Preserve> pool(&memory);

		pool.borrow()->value = 5;
		EXPECT_EQ(pool.borrow()->value, 5);
		EXPECT_EQ(Thing::gone, 0);
	}
	EXPECT_EQ(Thing::gone, Thing::made);
}

/* marl b8406ab: makes 32 when the first is borrowed, and as many again as there
 * are when none is free. */
TEST_F(ThingsAlone, an_unbounded_pool_makes_one_object_at_a_time)
{
	UnboundedPool<Thing, PoolPolicy::Preserve> pool(&memory);

	EXPECT_EQ(Thing::made, 0);
	{
		auto one = pool.borrow();

		EXPECT_EQ(Thing::made, 1);
		auto other = pool.borrow();

		EXPECT_EQ(Thing::made, 2);
	}
	pool.borrow(2, [](Loan<Thing> &&) {});
	EXPECT_EQ(Thing::made, 2);
}

TEST_F(ThingsAlone, an_object_that_was_not_made_is_not_lost)
{
	BoundedPool<Thing, 1> pool(&memory);

	Thing::failures = 2;
	EXPECT_THROW(pool.borrow(), std::runtime_error);
	EXPECT_THROW(pool.tryBorrow(), std::runtime_error);
	EXPECT_NE(pool.borrow().get(), nullptr);
	EXPECT_EQ(Thing::made, Thing::gone);
}

TEST_F(ThingsAlone, what_a_borrower_that_throws_did_not_get_is_given_back)
{
	BoundedPool<Thing, 3> pool(&memory);

	EXPECT_THROW(
		pool.borrow(
			3, [](Loan<Thing>) { throw std::runtime_error("no"); }),
		std::runtime_error);
	pool.borrow(3, [](Loan<Thing>) {});
	EXPECT_EQ(Thing::made, Thing::gone);
}

TEST_F(PoolAlone, a_loan_of_nothing_is_null)
{
	Loan<int>                 none;
	BoundedPool<int, 1>       bounded(&memory);
	UnboundedPool<int>        unbounded(&memory);
	BoundedPool<int, 1>::Loan a = bounded.borrow();
	UnboundedPool<int>::Loan  b = unbounded.borrow();

	EXPECT_EQ(none.get(), nullptr);
	EXPECT_NE(a.get(), nullptr);
	EXPECT_NE(b.get(), nullptr);
	a.reset();
	b = none;
	EXPECT_EQ(a.get(), nullptr);
	EXPECT_EQ(b.get(), nullptr);
	a.reset();
}

TEST_F(PoolAlone, a_loan_gives_back_with_its_last_copy)
{
	BoundedPool<int, 1> pool(&memory);
	Loan<int>           a = pool.borrow();

	*a = 5;
	{
		Loan<int> b = a;
		Loan<int> c = std::move(a);

		EXPECT_EQ(a.get(), nullptr);
		a = c;
		b = std::move(c);
		b = *&b;
		EXPECT_EQ(*b, 5);
		EXPECT_EQ(b.get(), a.get());
		EXPECT_FALSE(pool.tryBorrow().second);
	}
	EXPECT_FALSE(pool.tryBorrow().second);
	a.reset();
	EXPECT_TRUE(pool.tryBorrow().second);
}

TEST_F(PoolAlone, a_loan_may_outlive_its_pool)
{
	Loan<int> a, b;
	{
		BoundedPool<int, 1> bounded(&memory);
		UnboundedPool<int>  unbounded(&memory);

		a = bounded.borrow();
		b = unbounded.borrow();
	}
	*a = *b = 5;
}

TEST_F(PoolAlone, objects_are_aligned)
{
	struct alignas(64) Wide {
		char c;
	};
	BoundedPool<Wide, 10> bounded(&memory);
	UnboundedPool<Wide>   unbounded(&memory);

	auto expect = [](const Loan<Wide> &loan) {
		EXPECT_EQ(reinterpret_cast<uintptr_t>(loan.get()) % 64, 0u);
	};

	bounded.borrow(10, expect);
	unbounded.borrow(100, expect);
}

TEST_F(PoolAlone, a_borrower_may_use_the_pool)
{
	BoundedPool<int, 3> bounded(&memory);
	UnboundedPool<int>  unbounded(&memory);
	int                 calls = 0;

	bounded.borrow(2, [&](Loan<int> loan) {
		loan.reset();
		bounded.borrow();
		calls++;
	});
	unbounded.borrow(5, [&](Loan<int> loan) {
		loan.reset();
		unbounded.borrow(3, [&](Loan<int>) { calls++; });
	});
	bounded.borrow(0, [&](Loan<int>) { calls = -1; });
	unbounded.borrow(0, [&](Loan<int>) { calls = -1; });
	EXPECT_EQ(calls, 17);
}

TEST_P(PoolOn, a_bounded_pool_lends_no_more_than_it_has)
{
	BoundedPool<int, 5> pool(&memory);
	std::atomic<int>    lent{ 0 };
	marl::WaitGroup     left(load(1000u));

	for (int i = 0; i < load(1000); ++i)
		marl::schedule([=, &lent] {
			{
				Loan<int> loan = pool.borrow();

				EXPECT_LE(++lent, 5);
				sennit_yield();
				lent--;
			}
			left.done();
		});
	left.wait();
}

TEST_P(PoolOn, an_unbounded_pool_lends_at_once)
{
	UnboundedPool<int> pool(&memory);
	marl::Event        all(marl::Event::Mode::Manual);
	marl::WaitGroup    lent(100), left(100);

	for (int i = 0; i < 100; ++i)
		marl::schedule([=] {
			Loan<int> loan = pool.borrow();

			*loan = i;
			lent.done();
			all.wait();
			EXPECT_EQ(*loan, i);
			left.done();
		});
	lent.wait();
	all.signal();
	left.wait();
}

TEST_P(PoolOn, every_borrower_that_can_is_woken)
{
	BoundedPool<int, 2>    pool(&memory);
	std::vector<Loan<int>> loans;
	marl::Event            go(marl::Event::Mode::Manual);
	marl::WaitGroup        left(2), got(2);

	pool.borrow(2, [&](Loan<int> loan) { loans.push_back(loan); });
	for (int i = 0; i < 2; ++i)
		marl::schedule([=] {
			Loan<int> loan = pool.borrow();

			got.done();
			go.wait(); /* both have an item now */
			left.done();
		});
	loans.clear();
	got.wait();
	go.signal();
	left.wait();
}

TEST_P(PoolOn, borrowers_of_several_do_not_hold_each_other_up)
{
	BoundedPool<int, 3> pool(&memory);
	marl::WaitGroup     left(100);

	for (int i = 0; i < 100; ++i)
		marl::schedule([=] {
			std::vector<Loan<int>> loans;

			pool.borrow(size_t(1 + i % 3), [&](Loan<int> loan) {
				loans.push_back(std::move(loan));
				sennit_yield();
			});
			loans.clear();
			left.done();
		});
	left.wait();
}

TEST_P(PoolOn, nobody_overtakes_who_waits_for_several)
{
	BoundedPool<int, 2> pool(&memory);
	Loan<int>           first = pool.borrow();
	marl::Event         asked;
	marl::WaitGroup     left(1);

	marl::schedule(marl::Task(
		[=] {
			asked.signal();
			pool.borrow(2, [](Loan<int>) {});
			left.done();
		},
		marl::Task::Flags::SameThread));
	asked.wait(); /* on this thread, so the other one is waiting for an item
		       * now */
	EXPECT_FALSE(pool.tryBorrow().second);
	first.reset();
	left.wait();
	EXPECT_TRUE(pool.tryBorrow().second);
}

using PoolDeathTest = Alone;

TEST_F(PoolDeathTest, does_not_wait_for_more_than_there_are)
{
	BoundedPool<int, 2> pool(&memory);

	EXPECT_DEATH(pool.borrow(3, [](Loan<int>) {}), "more than the pool");
}

} // namespace
