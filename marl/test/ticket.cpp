/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/ticket.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace
{

using marl::Ticket;

class TicketOn : public World
{
public:
	Ticket::Queue queue;
};
ON_WORKERS(TicketOn);

TEST_P(TicketOn, the_first_is_called_at_once)
{
	Ticket first = queue.take();

	first.wait();
	first.wait();
}

TEST_P(TicketOn, are_called_in_the_order_in_which_they_were_taken)
{
	std::atomic<int> at{ 0 };
	marl::WaitGroup  left(load(1000u));

	for (int i = 0; i < load(1000); ++i) {
		Ticket ticket = queue.take();

		marl::schedule([=, &at] {
			ticket.wait();
			EXPECT_EQ(at++, i);
			ticket.done();
			left.done();
		});
	}
	left.wait();
}

TEST_P(TicketOn, may_be_done_out_of_order)
{
	Ticket            a = queue.take(), b = queue.take(), c = queue.take();
	std::atomic<bool> is_turn{ false };
	marl::WaitGroup   left(1);

	marl::schedule([=, &is_turn] {
		c.wait();
		EXPECT_TRUE(is_turn);
		left.done();
	});
	b.done();
	for (int i = 0; i < 100; ++i)
		sennit_yield(); /* gives a premature call a chance to happen */
	is_turn = true;
	a.done();
	left.wait();
}

TEST_P(TicketOn, count_once_however_often_they_are_done)
{
	Ticket            a = queue.take(), b = queue.take(), c = queue.take();
	std::atomic<bool> is_turn{ false };
	marl::WaitGroup   left(1);

	c.onCall([=, &is_turn] {
		EXPECT_TRUE(is_turn);
		c.done();
		left.done();
	});
	a.done();
	a.done();
	b.wait();
	for (int i = 0; i < 100; ++i)
		sennit_yield();
	is_turn = true;
	b.done();
	b = Ticket();
	a.done(); /* must not access b, which is gone */
	left.wait();
	queue.take().wait();
}

TEST_P(TicketOn, are_done_when_the_last_copy_goes)
{
	Ticket a = queue.take(), b = queue.take();
	Ticket copy = a;

	a = Ticket();
	Ticket moved = std::move(copy);

	copy = moved;
	moved = Ticket();
	marl::schedule([copy] {}); /* the last reference */
	copy = Ticket();
	b.wait();
}

TEST_P(TicketOn, outlive_their_queue)
{
	auto   q = std::unique_ptr<Ticket::Queue>(new Ticket::Queue);
	Ticket a = q->take(), b = q->take();

	q.reset();
	marl::schedule([a] { a.done(); });
	a = Ticket();
	b.wait();
}

TEST_P(TicketOn, schedule_their_functions_when_they_are_called)
{
	Ticket          a = queue.take(), b = queue.take();
	std::string     order;
	marl::WaitGroup left(3);

	for (char c : { '1', '2', '3' })
		b.onCall([=, &order] {
			order += c;
			left.done();
		});
	EXPECT_EQ(order, "");
	a.done();
	left.wait();
	EXPECT_EQ(order, "123");
}

TEST_P(TicketOn, schedule_a_function_that_comes_too_late_at_once)
{
	Ticket          a = queue.take();
	marl::WaitGroup left(1);

	a.onCall([=] { left.done(); });
	left.wait();
}

TEST_P(TicketOn, are_taken_several_at_once)
{
	std::vector<Ticket> tickets;
	std::atomic<int>    at{ 0 };
	marl::WaitGroup     left(7);

	queue.take(0, [&](Ticket) { FAIL(); });
	queue.take(3, [&](Ticket t) { tickets.push_back(t); });
	queue.take(4, [&](Ticket &&t) { tickets.push_back(std::move(t)); });
	ASSERT_EQ(tickets.size(), 7u);
	for (int i = 6; i >= 0; --i) {
		Ticket ticket = tickets[size_t(i)];

		marl::schedule([=, &at] {
			ticket.wait();
			EXPECT_EQ(at++, i);
			ticket.done();
			left.done();
		});
	}
	left.wait();
}

TEST_P(TicketOn, may_be_dropped_by_whoever_takes_them)
{
	queue.take(10, [](Ticket) {});
	queue.take(10, [](Ticket &&ticket) { ticket.done(); });
	queue.take().wait();
}

TEST_P(TicketOn, may_be_taken_by_whoever_takes_them)
{
	int taken = 0;

	queue.take(3, [&](Ticket) {
		queue.take();
		taken++;
	});
	EXPECT_EQ(taken, 3);
	queue.take().wait();
}

TEST_P(TicketOn, that_were_done_before_hold_up_nobody)
{
	Ticket a = queue.take(), b = queue.take();

	b.done();
	b.wait();
	b.onCall([] { ADD_FAILURE() << "it was not called"; });
}

TEST_P(TicketOn, are_done_by_threads_that_are_not_bound)
{
	Ticket a = queue.take(), b = queue.take();

	std::thread([=] { a.done(); }).join();
	b.wait();
}

} // namespace
