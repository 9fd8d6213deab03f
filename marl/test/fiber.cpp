/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/waitgroup.h"

#include "sennit/group.h"

#include <atomic>
#include <cerrno>
#include <set>
#include <string>
#include <stdexcept>
#include <thread>
#include <utility>

namespace
{

using Fiber = marl::Scheduler::Fiber;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

class FiberOn : public World
{
public:
	marl::mutex mutex;
};
ON_WORKERS(FiberOn);

TEST_P(FiberOn, is_the_same_as_long_as_it_runs)
{
	Fiber          *main = Fiber::current();
	marl::WaitGroup left(10);
	marl::Event     go(marl::Event::Mode::Manual);

	ASSERT_NE(main, nullptr);
	EXPECT_EQ(main->id, 0u);
	for (int i = 0; i < 10; ++i)
		marl::schedule([=] {
			Fiber   *me = Fiber::current();
			uint32_t id = me->id;

			EXPECT_NE(me, main);
			go.wait();
			EXPECT_EQ(Fiber::current(), me);
			EXPECT_EQ(me->id, id);
			left.done();
		});
	go.signal();
	left.wait();
	EXPECT_EQ(Fiber::current(), main);
}

TEST_P(FiberOn, has_an_id_of_its_own_on_its_thread)
{
	std::set<std::pair<std::thread::id, uint32_t>> seen;
	marl::Event     go(marl::Event::Mode::Manual);
	marl::WaitGroup left(50);

	for (int i = 0; i < 50; ++i)
		marl::schedule([&, left, go] {
			{
				marl::lock lock(mutex);

				EXPECT_TRUE(
					seen.emplace(std::this_thread::get_id(),
						     Fiber::current()->id)
						.second);
				if (seen.size() == 50)
					go.signal();
			}
			go.wait();
			left.done();
		});
	left.wait();
}

TEST_P(FiberOn, resumes_on_its_thread)
{
	marl::Event     go(marl::Event::Mode::Manual);
	marl::WaitGroup left(load(1000u));

	for (int i = 0; i < load(1000); ++i)
		marl::schedule([=] {
			auto thread = std::this_thread::get_id();

			go.wait();
			EXPECT_EQ(std::this_thread::get_id(), thread);
			left.done();
		});
	marl::schedule([=] { go.signal(); });
	left.wait();
}

TEST_P(FiberOn, waits_until_its_predicate_holds)
{
	Fiber          *me = Fiber::current();
	int             value = 0;
	marl::WaitGroup left(1);

	marl::schedule([&, left] {
		for (int i = 0; i < 3; ++i) {
			{
				marl::lock lock(mutex);

				value++;
			}
			me->notify();
		}
		left.done();
	});
	{
		marl::lock lock(mutex);

		me->wait(lock, [&] {
			EXPECT_TRUE(lock.owns_lock());
			return value == 3;
		});
		EXPECT_EQ(value, 3);
		EXPECT_TRUE(lock.owns_lock());
	}
	left.wait();
}

TEST_P(FiberOn, may_be_notified_after_its_thread_has_unbound)
{
	Fiber            *me = Fiber::current();
	std::atomic<bool> unbound{ false };

	std::thread other([&] {
		while (!unbound)
			me->notify();
		me->notify();
	});

	marl::Scheduler::unbind();
	unbound = true;
	other.join();
	scheduler->bind();
	EXPECT_EQ(Fiber::current()->id, me->id);
	marl::schedule(marl::Task([] { Fiber::current()->notify(); },
				  marl::Task::Flags::SameThread));
}

/* An allocator that notifies the unbinding thread's fiber whenever it frees
 * memory of the scheduler. ASan and valgrind then see a read of the freed
 * worker.
 */
class Notifying : public marl::Allocator
{
public:
	explicit Notifying(marl::Allocator *inner) : inner_(inner)
	{
	}
	marl::Allocation allocate(
		const marl::Allocation::Request &request) override
	{
		return inner_->allocate(request);
	}
	void free(const marl::Allocation &allocation) override
	{
		inner_->free(allocation);
		if (fiber)
			fiber->notify();
	}

	Fiber *fiber = nullptr;

private:
	marl::Allocator *inner_;
};

TEST_F(Alone, a_thread_may_be_notified_while_it_unbinds)
{
	Notifying       allocator(&memory);
	marl::Scheduler scheduler(
		marl::Scheduler::Config().setAllocator(&allocator));

	scheduler.bind();
	allocator.fiber = Fiber::current();
	scheduler.unbind();
	allocator.fiber = nullptr;
}

TEST_P(FiberOn, does_not_wait_for_what_holds)
{
	marl::lock lock(mutex);

	Fiber::current()->wait(lock, [] { return true; });
	EXPECT_TRUE(Fiber::current()->wait(lock, system_clock::now(),
					   [] { return true; }));
}

TEST_P(FiberOn, gives_up_at_the_deadline)
{
	marl::lock lock(mutex);
	auto       begin = steady_clock::now();

	EXPECT_FALSE(Fiber::current()->wait(
		lock, steady_clock::now() + milliseconds(10),
		[] { return false; }));
	EXPECT_GE(steady_clock::now() - begin, milliseconds(10));
}

TEST_P(FiberOn, waits_for_a_notify_alone)
{
	Fiber *me = Fiber::current();

	for (int i = 0; i < 10; ++i) {
		marl::schedule(marl::Task([me] { me->notify(); },
					  marl::Task::Flags::SameThread));
		me->wait();
	}
}

TEST_P(FiberOn, tells_a_notify_from_a_deadline)
{
	Fiber *me = Fiber::current();

	EXPECT_FALSE(me->wait(system_clock::now() + milliseconds(2)));
	marl::schedule(marl::Task([me] { me->notify(); },
				  marl::Task::Flags::SameThread));
	EXPECT_TRUE(me->wait(system_clock::now() + std::chrono::minutes(1)));
}

TEST_P(FiberOn, takes_no_notice_of_a_notify_while_it_runs)
{
	Fiber *me = Fiber::current();

	me->notify();
	me->notify();
	EXPECT_FALSE(me->wait(system_clock::now() + milliseconds(2)));

	marl::lock lock(mutex);

	me->notify();
	EXPECT_FALSE(me->wait(lock, system_clock::now() + milliseconds(2),
			      [] { return false; }));
}

TEST_P(FiberOn, is_notified_by_threads_that_are_not_bound)
{
	Fiber *me = Fiber::current();
	bool   ready = false;

	std::thread other([&] {
		{
			marl::lock lock(mutex);

			ready = true;
		}
		me->notify();
	});

	{
		marl::lock lock(mutex);

		me->wait(lock, [&] { return ready; });
	}
	other.join();
}

TEST_P(FiberOn, lets_exceptions_of_the_predicate_through)
{
	marl::lock lock(mutex);

	EXPECT_THROW(
		Fiber::current()->wait(
			lock, []() -> bool { throw std::runtime_error("x"); }),
		std::runtime_error);
	EXPECT_TRUE(lock.owns_lock());
	/* No state of it is left. */
	EXPECT_FALSE(Fiber::current()->wait(
		lock, system_clock::now() + milliseconds(1),
		[] { return false; }));
}

TEST_F(Alone, a_fiber_that_is_ready_goes_before_the_tasks_of_its_thread)
{
	marl::Scheduler s(marl::Scheduler::Config().setAllocator(&memory));
	std::string     order;
	marl::Event     go;

	s.bind();
	marl::schedule([&] {
		order += '1';
		go.wait();
		order += 'R';
	});
	marl::schedule([&] {
		order += '2';
		marl::schedule([&] { order += '3'; });
		go.signal();
		order += 's';
	});
	marl::Scheduler::unbind();
	EXPECT_EQ(order, "12sR3");
}
/* --- in a cancelled sennit group ------------------------------------------ */

struct Cancelled {
	marl::mutex     mutex;
	bool            changed = false; /* under mutex */
	Fiber          *waiter = nullptr;
	marl::Event     event;
	marl::WaitGroup left{ 1 };
	sennit_group    group;
};

/* Waits without a timeout continue. Waits with one return as if it had
 * expired. */
int waitCancelled(void *argument)
{
	Cancelled &c = *static_cast<Cancelled *>(argument);

	sennit_group_cancel(&c.group);
	EXPECT_FALSE(c.event.wait_for(std::chrono::hours(1)));
	EXPECT_FALSE(Fiber::current()->wait(steady_clock::now() +
					    std::chrono::hours(1)));
	c.waiter = Fiber::current();
	marl::schedule([&c] {
		{
			marl::lock lock(c.mutex);
			c.changed = true;
		}
		c.waiter->notify();
		c.event.signal();
		c.left.done();
	});
	{
		marl::lock lock(c.mutex);

		c.waiter->wait(lock, [&c] { return c.changed; });
		EXPECT_TRUE(c.changed);
	}
	c.event.wait();
	c.left.wait();
	return 0;
}

TEST_P(FiberOn, waits_without_a_time_in_a_cancelled_group)
{
	Cancelled c;

	sennit_group_init(&c.group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	ASSERT_EQ(sennit_group_spawn(&c.group, waitCancelled, &c), 0);
	EXPECT_EQ(sennit_group_wait(&c.group), -ECANCELED);
}

} // namespace
