/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.cpp - tickets are taken and done by C++ scope. */
#include "world.hpp"

namespace
{

class tickets : public world
{
};
ON_WORKERS(tickets);

TEST_P(tickets, bring_work_into_order)
{
	constexpr int        n = 50;
	sennit::ticket_queue q;
	sennit::wait_group   done(n);
	std::vector<int>     order;

	for (int i = 0; i < n; i++)
		sennit::schedule(
			[&, i, t = std::make_unique<sennit::ticket>(q)] {
				t->wait();
				order.push_back(i);
				t->done();
				done.done();
			});
	done.wait();
	for (int i = 0; i < n; i++)
		EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(tickets, are_done_when_they_go)
{
	sennit::ticket_queue          q;
	std::optional<sennit::ticket> first(std::in_place, q);
	sennit::ticket                second(q);

	EXPECT_TRUE(first->is_due());
	EXPECT_FALSE(second.is_due());
	EXPECT_FALSE(second.wait_for(1ms));
	EXPECT_FALSE(second.wait_until(std::chrono::system_clock::now()));
	first.reset();
	EXPECT_TRUE(second.is_due());
	EXPECT_TRUE(second.wait_for(0s));
}

TEST_P(tickets, call_what_cannot_be_copied)
{
	sennit::ticket_queue q;
	sennit::ticket       first(q), second(q);
	sennit::event        called;

	second.on_call([&, text = std::make_unique<std::string>("mine")] {
		EXPECT_EQ(*text, "mine");
		second.done();
		called.set();
	});
	EXPECT_FALSE(called.is_set());
	first.done();
	called.wait();
}

} // namespace
