/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/waitgroup.h"

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <thread>
#include <vector>

namespace
{

using marl::Event;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

class EventOn : public World
{
};
ON_WORKERS(EventOn);

using EventAlone = Alone;

TEST_P(EventOn, is_signalled_until_it_is_cleared)
{
	for (Event::Mode mode : { Event::Mode::Manual, Event::Mode::Auto }) {
		Event e(mode, false, &memory);

		EXPECT_FALSE(e.isSignalled());
		e.signal();
		EXPECT_TRUE(e.isSignalled());
		EXPECT_TRUE(e.isSignalled());
		e.clear();
		EXPECT_FALSE(e.isSignalled());
		EXPECT_FALSE(e.test());
	}
}

TEST_P(EventOn, may_be_signalled_from_the_start)
{
	EXPECT_TRUE(Event(Event::Mode::Auto, true).isSignalled());
	EXPECT_TRUE(Event(Event::Mode::Manual, true).isSignalled());
	EXPECT_FALSE(Event().isSignalled());
}

TEST_P(EventOn, in_auto_mode_is_clear_after_a_test)
{
	Event e(Event::Mode::Auto, true, &memory);

	EXPECT_TRUE(e.test());
	EXPECT_FALSE(e.test());
}

TEST_P(EventOn, in_manual_mode_stays_signalled_after_a_test)
{
	Event e(Event::Mode::Manual, true, &memory);

	EXPECT_TRUE(e.test());
	EXPECT_TRUE(e.test());
	e.wait();
	EXPECT_TRUE(e.test());
}

TEST_P(EventOn, in_auto_mode_remembers_one_signal)
{
	Event e(Event::Mode::Auto, false, &memory);

	e.signal();
	e.signal();
	e.wait();
	EXPECT_FALSE(e.isSignalled());
}

TEST_P(EventOn, in_auto_mode_lets_one_through_for_each_signal)
{
	Event            e(Event::Mode::Auto, false, &memory);
	Event            passed(Event::Mode::Auto, false, &memory);
	std::atomic<int> through{ 0 };

	for (int i = 0; i < 3; ++i)
		marl::schedule([=, &through] {
			e.wait();
			through++;
			passed.signal();
		});
	for (int i = 1; i <= 3; ++i) {
		e.signal();
		passed.wait();
		EXPECT_EQ(through, i);
		EXPECT_FALSE(passed.wait_for(milliseconds(1)));
	}
}

TEST_P(EventOn, in_manual_mode_lets_all_through)
{
	Event           e(Event::Mode::Manual, false, &memory);
	marl::WaitGroup left(1000, &memory);

	for (int i = 0; i < 1000; ++i)
		marl::schedule([=] {
			e.wait();
			left.done();
		});
	marl::schedule([=] { e.signal(); });
	left.wait();
}

TEST_P(EventOn, passes_a_baton_on)
{
	Event            turn[3] = { Event(), Event(), Event() };
	marl::WaitGroup  left(3);
	std::atomic<int> at{ 0 };

	for (int i = 0; i < 3; ++i) {
		Event mine = turn[i], next = turn[(i + 1) % 3];

		marl::schedule([=, &at] {
			for (int round = 0; round < 100; ++round) {
				mine.wait();
				EXPECT_EQ(at++ % 3, i);
				next.signal();
			}
			left.done();
		});
	}
	turn[0].signal();
	left.wait();
	EXPECT_EQ(at, 300);
}

TEST_P(EventOn, gives_up_no_earlier_than_told)
{
	Event e;
	auto  begin = steady_clock::now();

	EXPECT_FALSE(e.wait_for(milliseconds(20)));
	EXPECT_GE(steady_clock::now() - begin, milliseconds(20));

	auto until = system_clock::now() + milliseconds(20);

	EXPECT_FALSE(e.wait_until(until));
	EXPECT_GE(system_clock::now(), until);
	EXPECT_FALSE(e.wait_until(steady_clock::now() + milliseconds(1)));
}

TEST_P(EventOn, does_not_wait_for_what_has_passed)
{
	Event e;
	auto  begin = steady_clock::now();

	EXPECT_FALSE(e.wait_for(milliseconds(0)));
	EXPECT_FALSE(e.wait_for(milliseconds(-1000000)));
	EXPECT_FALSE(e.wait_for(std::chrono::hours::min()));
	EXPECT_FALSE(e.wait_until(system_clock::time_point()));
	EXPECT_FALSE(e.wait_until(system_clock::time_point::min()));
	EXPECT_FALSE(e.wait_until(steady_clock::time_point::min()));
	EXPECT_LT(steady_clock::now() - begin, std::chrono::minutes(4));
	e.signal();
	EXPECT_TRUE(e.wait_for(milliseconds(-5)));
}

TEST_P(EventOn, waits_for_ever_for_what_is_too_far_to_count)
{
	Event           e(Event::Mode::Manual, false, &memory);
	marl::WaitGroup left(4, &memory);

	auto expect = [=](bool signalled) {
		EXPECT_TRUE(signalled);
		left.done();
	};

	marl::schedule([=] { expect(e.wait_for(milliseconds::max())); });
	marl::schedule([=] { expect(e.wait_for(std::chrono::hours::max())); });
	marl::schedule([=] {
		expect(e.wait_for(std::chrono::duration<double>(1e300)));
	});
	marl::schedule(
		[=] { expect(e.wait_until(system_clock::time_point::max())); });
	std::thread([=] { e.signal(); }).join();
	left.wait();
}

TEST_P(EventOn, reports_a_signal_before_the_deadline)
{
	Event           e(Event::Mode::Manual, false, &memory);
	marl::WaitGroup left(load(1000u), &memory);

	for (int i = 0; i < load(1000); ++i)
		marl::schedule([=] {
			EXPECT_TRUE(e.wait_for(std::chrono::minutes(5)));
			left.done();
		});
	marl::schedule([=] { e.signal(); });
	left.wait();
}

TEST_P(EventOn, mixes_waits_that_end_by_signal_and_by_deadline)
{
	for (int round = 0; round < 10; ++round) {
		marl::WaitGroup    left(100);
		std::vector<Event> events(100, Event());

		for (size_t i = 0; i < events.size(); ++i) {
			events[i] = Event(Event::Mode::Auto, false);

			Event mine = events[i];

			marl::schedule([=] {
				if (i % 2)
					EXPECT_FALSE(mine.wait_for(
						milliseconds(1 + i % 5)));
				else
					mine.wait();
				left.done();
			});
		}
		for (size_t i = 0; i < events.size(); i += 2)
			events[i].signal();
		left.wait();
	}
}

TEST_P(EventOn, lives_as_long_as_a_copy)
{
	auto            e = std::make_shared<Event>(Event::Mode::Auto);
	Event           copy = *e;
	marl::WaitGroup left(1);

	marl::schedule([=] {
		copy.wait();
		left.done();
	});
	e->signal();
	e.reset();
	left.wait();
}

TEST_P(EventOn, may_be_destroyed_by_whoever_it_let_through)
{
	for (int i = 0; i < load(1000); ++i) {
		auto *e = new Event(Event::Mode::Auto, false, &memory);

		marl::schedule([e] { e->signal(); });
		e->wait();
		delete e;
	}
}

TEST_P(EventOn, is_of_use_after_it_was_moved_from)
{
	Event a;
	Event b(std::move(a));

	b.signal();
	EXPECT_TRUE(a.test()); /* as with marl */
}

TEST_F(EventAlone, works_between_threads_that_are_not_bound)
{
	Event to(Event::Mode::Auto, false, &memory);
	Event from(Event::Mode::Auto, false, &memory);

	std::thread other([=] {
		for (int i = 0; i < 100; ++i) {
			to.wait();
			from.signal();
		}
	});

	for (int i = 0; i < 100; ++i) {
		to.signal();
		EXPECT_TRUE(from.wait_for(std::chrono::minutes(1)));
	}
	other.join();
	EXPECT_FALSE(from.wait_for(milliseconds(1)));
}

/* --- any ------------------------------------------------------------------ */

TEST_P(EventOn, any_is_signalled_by_each_of_its_events)
{
	for (size_t i = 0; i < 3; ++i) {
		std::array<Event, 3> events = { { Event(Event::Mode::Auto),
						  Event(Event::Mode::Manual),
						  Event(Event::Mode::Auto) } };
		Event any = Event::any(events.begin(), events.end());
		Event mine = events[i];

		EXPECT_FALSE(any.isSignalled());
		marl::schedule([=] { mine.signal(); });
		any.wait();
		EXPECT_TRUE(mine.isSignalled());
		EXPECT_FALSE(any.isSignalled());
	}
}

TEST_P(EventOn, any_is_signalled_at_once_by_what_is_signalled_already)
{
	std::list<Event> events = { Event(Event::Mode::Manual, true), Event() };
	Event            any = Event::any(Event::Mode::Manual, events.begin(),
					  events.end());

	EXPECT_TRUE(any.isSignalled());
	any.wait();
	EXPECT_TRUE(any.isSignalled());
	EXPECT_TRUE(events.front().isSignalled());
}

TEST_P(EventOn, any_is_signalled_each_time)
{
	std::array<Event, 1> events = { { Event(Event::Mode::Auto) } };
	Event                any = Event::any(events.begin(), events.end());

	for (int i = 0; i < 3; ++i) {
		events[0].signal();
		any.wait();
		EXPECT_FALSE(any.isSignalled());
	}
}

TEST_F(EventAlone, any_leaves_nothing_on_its_events)
{
	std::array<Event, 2> events = {
		{ Event(Event::Mode::Auto, false, &memory),
		  Event(Event::Mode::Auto, false, &memory) }
	};

	for (int i = 0; i < 100; ++i)
		Event::any(events.begin(), events.end());

	auto before = memory.stats().bytesAllocated();

	for (int i = 0; i < 1000; ++i)
		Event::any(events.begin(), events.end());
	EXPECT_EQ(memory.stats().bytesAllocated(), before);
	events[0].signal();
	EXPECT_TRUE(events[0].isSignalled());
}

TEST_F(EventAlone, any_of_any_of_any)
{
	std::vector<Event> first = { Event() };
	std::vector<Event> second = { Event(),
				      Event::any(first.begin(), first.end()) };
	Event              any = Event::any(second.begin(), second.end());

	first[0].signal();
	EXPECT_TRUE(any.test());
}

TEST_P(EventOn, any_comes_and_goes_while_its_events_are_signalled)
{
	Event             source(Event::Mode::Manual);
	std::atomic<bool> stop{ false };

	std::thread signaller([=, &stop] {
		while (!stop)
			source.signal();
	});

	for (int i = 0; i < load(1000); ++i) {
		Event any = Event::any(&source, &source + 1);

		any.wait();
	}
	stop = true;
	signaller.join();
}

TEST_P(EventOn, any_misses_no_signal_that_comes_while_it_is_made)
{
	for (int i = 0; i < load(2000); ++i) {
		Event       source(Event::Mode::Manual);
		std::thread signaller;

		if (i % 50 == 0)
			signaller = std::thread([=] { source.signal(); });
		else
			marl::schedule([=] { source.signal(); });
		Event::any(&source, &source + 1).wait();
		if (signaller.joinable())
			signaller.join();
	}
}

} // namespace
