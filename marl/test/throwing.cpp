/* SPDX-License-Identifier: Apache-2.0 */
/* throwing.cpp - functions that throw, passed to each call that takes one: when
 * the exception leaves it nothing refers to the frame any more, and nothing is
 * lost.
 *
 *	call                            when it runs    when it is copied
 *	schedule(), enqueue(), Task     ends the process (scheduler.cpp)
 *	                                                each_call_may_fail_...
 *	initializers, Thread            the same        the same
 *	parallelize()                   ..._the_others_alone, ..._a_copy_...
 *	DAGBuilder::node(), then()      a_dag_waits_... each_call_may_fail_...
 *	blocking_call()                 a_blocking_call_throws
 *	borrow(n, f)                    pools_...       not copied
 *	take(n, f)                      tickets_that_.. not copied
 *	onCall()                        as schedule()   each_call_may_fail_...
 *	predicates                      a_predicate_... not copied
 *	make_finally() and defer()      end the process each_call_may_fail_...
 */
#include "world.h"

#include "marl/blockingcall.h"
#include "marl/conditionvariable.h"
#include "marl/dag.h"
#include "marl/event.h"
#include "marl/finally.h"
#include "marl/parallelize.h"
#include "marl/pool.h"
#include "marl/ticket.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <stdexcept>

namespace
{

class ThrowingOn : public World
{
};
ON_WORKERS(ThrowingOn);

using Error = std::runtime_error;

[[noreturn]] void fail()
{
	throw Error("thrown");
}

/* A function that throws when it is copied for the nth time. */
struct ThrowingCopy {
	ThrowingCopy(std::atomic<int> &r, int n) : ran(&r), copies(n)
	{
	}
	ThrowingCopy(const ThrowingCopy &other)
	    : ran(other.ran), copies(other.copies - 1)
	{
		if (copies == 0)
			fail();
	}
	void operator()(int = 0) const
	{
		++*ran;
	}

	std::atomic<int> *ran;
	int               copies;
};

/* The frames of the calls are gone when the other functions end. */
[[gnu::noinline]] void leave(const marl::Event &go, const marl::WaitGroup &left)
{
	auto other = [=] {
		go.wait();
		left.done();
	};

	EXPECT_THROW(marl::parallelize([] { fail(); }, other, other), Error);
}

[[gnu::noinline]] void use_the_stack(const marl::Event     &go,
				     const marl::WaitGroup &left)
{
	volatile unsigned char bytes[4096];

	for (volatile unsigned char &byte : bytes)
		byte = 0xa5;
	go.signal();
	left.wait();
	for (volatile unsigned char &byte : bytes)
		ASSERT_EQ(byte, 0xa5);
}

TEST_P(ThrowingOn, parallelize_leaves_the_others_alone)
{
	for (int i = 0; i < 100; i++) {
		marl::Event     go(marl::Event::Mode::Manual);
		marl::WaitGroup left(2);

		leave(go, left);
		use_the_stack(go, left);
	}
}

TEST_P(ThrowingOn, parallelize_leaves_those_before_a_copy_that_throws)
{
	marl::WaitGroup  left(1);
	std::atomic<int> ran{ 0 };
	auto             other = [=] { left.done(); };

	EXPECT_THROW(
		marl::parallelize([] {}, other, ThrowingCopy(ran, 1), other),
		Error);
	left.wait();
	EXPECT_EQ(ran, 0);
}

TEST_P(ThrowingOn, a_dag_waits_for_the_nodes_that_have_begun)
{
	for (int i = 0; i < 100; i++) {
		marl::Event              thrown(marl::Event::Mode::Manual);
		std::atomic<int>         ran{ 0 };
		marl::DAG<void>::Builder builder;
		auto                     root = builder.root();

		for (int n = 0; n < 2; n++)
			root.then([&, thrown] {
				thrown.wait();
				ran++;
			});
		root.then([=] { /* the last one runs here */
				thrown.signal();
				fail();
		    })
			.then([&] { ran = 99; });
		auto dag = builder.build();

		EXPECT_THROW(dag->run(), Error);
		EXPECT_EQ(ran, 2);
	}
}

TEST_P(ThrowingOn, a_blocking_call_throws)
{
	EXPECT_THROW(marl::blocking_call(fail), Error);
}

template <typename Pool> void borrow_and_throw(const Pool &pool)
{
	for (int i = 0; i < 3; i++)
		EXPECT_THROW(
			pool.borrow(4, [&](typename Pool::Loan &&) { fail(); }),
			Error);
	pool.borrow(4, [](typename Pool::Loan &&) {}); /* all are back */
}

TEST_P(ThrowingOn, pools_get_back_what_was_not_lent)
{
	borrow_and_throw(marl::BoundedPool<int, 4>());
	borrow_and_throw(marl::UnboundedPool<int>());
}

/* The second one that is made. */
struct Costly {
	Costly()
	{
		if (++made == 2)
			fail();
	}

	static std::atomic<int> made;
};
std::atomic<int> Costly::made{ 0 };

TEST_P(ThrowingOn, pools_lend_again_after_a_constructor_that_throws)
{
	marl::UnboundedPool<Costly, marl::PoolPolicy::Preserve> kept(&memory);
	marl::BoundedPool<Costly, 2> bounded(&memory);

	Costly::made = 0;
	EXPECT_THROW(kept.borrow(2, [](marl::Loan<Costly> &&) {}), Error);
	kept.borrow(2, [](marl::Loan<Costly> &&) {});
	Costly::made = 0;
	EXPECT_THROW(bounded.borrow(2, [](marl::Loan<Costly> &&) {}), Error);
	bounded.borrow(2, [](marl::Loan<Costly> &&) {});
}

TEST_P(ThrowingOn, tickets_that_were_not_passed_on_are_done)
{
	marl::Ticket::Queue queue;

	EXPECT_THROW(queue.take(3, [](marl::Ticket &&) { fail(); }), Error);
	queue.take().wait();
}

/* An allocator that refuses the nth block, while it lives. */
class Refusing : public marl::Allocator
{
public:
	explicit Refusing(int n) : left(n)
	{
		Default = this;
	}
	~Refusing() override
	{
		Default = before;
	}

	marl::Allocation allocate(const marl::Allocation::Request &r) override
	{
		if (--left == 0)
			fail();
		return before->allocate(r);
	}

	void free(const marl::Allocation &a) override
	{
		before->free(a);
	}

private:
	marl::Allocator *before = Default;
	int              left;
};

TEST_P(ThrowingOn, tickets_that_could_not_be_taken_leave_the_others_alone)
{
	for (int refused = 1; refused <= 3; ++refused) {
		marl::Ticket::Queue queue;
		marl::Ticket        first = queue.take();
		std::atomic<bool>   called{ false };

		{
			Refusing allocator(refused);

			EXPECT_THROW(queue.take(3, [](marl::Ticket &&) {}),
				     Error);
		}
		marl::Ticket    second = queue.take();
		marl::WaitGroup over(1);

		second.onCall([&called, over] {
			called = true;
			over.done();
		});
		marl::WaitGroup turn(1);

		marl::schedule([turn] { turn.done(); });
		turn.wait(); /* what was scheduled before has run */
		EXPECT_FALSE(called);
		first.done();
		over.wait();
		EXPECT_TRUE(called);
	}
}

TEST_P(ThrowingOn, a_predicate_leaves_its_lock)
{
	marl::ConditionVariable condition;
	std::condition_variable outside;
	marl::mutex             mutex;
	const auto              soon = std::chrono::milliseconds(1);
	const auto              bad = []() -> bool { fail(); };
	const auto              later = std::chrono::steady_clock::now() + soon;

	for (int way = 0; way < 9; way++) {
		EXPECT_THROW(
			{
				marl::lock lock(mutex);

				if (way == 0)
					condition.wait(lock, bad);
				else if (way == 1)
					condition.wait_for(lock, soon, bad);
				else if (way == 2)
					condition.wait_until(lock, later, bad);
				else if (way == 3)
					lock.wait(outside, bad);
				else if (way == 4)
					lock.wait_until(outside, later, bad);
				else if (way == 5)
					mutex.wait_locked(outside, bad);
				else if (way == 6)
					mutex.wait_until_locked(outside, later,
								bad);
				else if (way == 7)
					marl::Scheduler::Fiber::current()->wait(
						lock, later, bad);
				else
					marl::Scheduler::Fiber::current()->wait(
						lock, bad);
			},
			Error);
		const bool is_free = mutex.try_lock();

		EXPECT_TRUE(is_free);
		if (is_free)
			mutex.unlock();
	}
}

/* --- functions that throw when they are copied -------------------------- */

template <size_t SIZE, size_t ALIGNMENT>
struct alignas(ALIGNMENT) Large : ThrowingCopy {
	using ThrowingCopy::ThrowingCopy;

	Large(const Large &other) : ThrowingCopy(other)
	{
	}

	char bytes[SIZE] = {};
};

/* Call with a function whose first copy throws, then the second, and so on,
 * until all goes well. Only then the function runs. */
template <typename F, typename Call> void fail_at_each_copy(Call call)
{
	std::atomic<int> ran{ 0 };
	int              copy = 0;
	bool             thrown = true;

	while (thrown && copy < 100) {
		const F function(ran, ++copy);

		try {
			call(function);
			thrown = false;
		} catch (const Error &) {
			thrown = true;
		}
	}
	EXPECT_FALSE(thrown);
	EXPECT_GT(copy, 1);
	while (ran == 0)
		sennit_yield();
	EXPECT_EQ(ran, 1);
}

template <typename F> void fail_to_schedule()
{
	marl::Scheduler    *here = marl::Scheduler::get();
	marl::Ticket::Queue queue;

	fail_at_each_copy<F>([](const F &f) { marl::schedule(f); });
	fail_at_each_copy<F>([](const F &f) { marl::schedule(f, 1); });
	fail_at_each_copy<F>(
		[](const F &f) { marl::schedule([](const F &g) { g(); }, f); });
	fail_at_each_copy<F>([=](const F &f) { here->enqueue(marl::Task(f)); });
	fail_at_each_copy<F>([=](const F &f) {
		const marl::Task once(f);

		marl::schedule(once);
	});
	fail_at_each_copy<F>([&](const F &f) {
		marl::Ticket first = queue.take();

		first.onCall(f); /* it has been called */
	});
	fail_at_each_copy<F>([&](const F &f) {
		marl::Ticket first = queue.take(), second = queue.take();

		second.onCall(f);
		first.done();
	});
}

TEST_P(ThrowingOn, each_call_may_fail_that_copies_a_function_for_later)
{
	fail_to_schedule<ThrowingCopy>();
	fail_to_schedule<Large<40, 8>>();
	fail_to_schedule<Large<500, 8>>();
#ifdef __cpp_aligned_new /* std::function needs it */
	fail_to_schedule<Large<20, 64>>();
#endif
}

TEST_P(ThrowingOn, each_call_may_fail_that_copies_a_function)
{
	marl::DAG<void>::Builder builder;
	auto                     root = builder.root();

	fail_at_each_copy<ThrowingCopy>([](const ThrowingCopy &f) {
		marl::Scheduler s(marl::Scheduler::Config()
					  .setWorkerThreadCount(1)
					  .setWorkerThreadInitializer(f));
	});
	fail_at_each_copy<ThrowingCopy>([](const ThrowingCopy &f) {
		marl::Thread thread(marl::Thread::Affinity::all(), f);

		thread.join();
	});
	fail_at_each_copy<ThrowingCopy>([](const ThrowingCopy &f) {
		auto end = marl::make_finally(ThrowingCopy(f));
	});
	fail_at_each_copy<ThrowingCopy>([](const ThrowingCopy &f) {
		auto end = marl::make_shared_finally(ThrowingCopy(f));
	});
	fail_at_each_copy<ThrowingCopy>([&](const ThrowingCopy &f) {
		root.then(f);
		builder.build()->run();
	});
}

} // namespace
