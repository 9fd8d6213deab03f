/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.cpp - handles count as references, and bindings follow scopes. */
#include "world.hpp"

#include "sennit/cpp/dag.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace
{

class schedulers : public world
{
};
ON_WORKERS(schedulers);

/* A scheduler that records its end. */
struct mortal {
	explicit mortal(std::uint32_t workers)
	{
		auto c = sennit::config().with_workers(workers);

		c.on_shutdown = [](void *context) {
			static_cast<sennit::event *>(context)->set();
		};
		c.on_shutdown_context = &ended;
		s = sennit::scheduler(c);
	}
	sennit::event     ended;
	sennit::scheduler s;
};

TEST_P(schedulers, live_as_long_as_a_handle)
{
	mortal            m(workers());
	sennit::scheduler other = m.s, moved = std::move(m.s);

	EXPECT_FALSE(m.s);
	EXPECT_TRUE(other == moved);
	EXPECT_TRUE(other != m.s);
	m.s = moved;
	other = sennit::scheduler();
	moved = sennit::scheduler();
	EXPECT_FALSE(m.ended.is_set());
	m.s = sennit::scheduler();
	m.ended.wait();
}

TEST_P(schedulers, are_known_to_their_tasks)
{
	sennit::event ran;

	EXPECT_TRUE(sennit::scheduler::current() == s);
	sennit::schedule([&] {
		EXPECT_TRUE(sennit::scheduler::current() == s);
		ran.set();
	});
	ran.wait();
	bound.reset();
	EXPECT_FALSE(sennit::scheduler::current());
	bound.emplace(s);
}

TEST_P(schedulers, run_a_program)
{
	int n = s.run([] { return sennit_fiber_current() ? 7 : 0; });

	EXPECT_EQ(n, 7);
	EXPECT_THROW(s.run([] { throw std::range_error("too far"); }),
		     std::range_error);
	bound.reset();
	s.run([&] { n = sennit::scheduler::current() == s; });
	EXPECT_EQ(n, 1);
	bound.emplace(s);
}

/* On the bound thread and on an unbound one. */
TEST_P(schedulers, of_a_program_end_with_it)
{
	std::atomic<int> ran{ 0 };
	auto             program = [&] {
                EXPECT_TRUE(sennit::scheduler::current());
                EXPECT_FALSE(sennit::scheduler::current() == s);
                for (int i = 0; i < 10; i++)
                        sennit::schedule([&] {
                                sennit::this_fiber::yield();
                                ++ran;
                        });
                return std::make_unique<int>(7);
	};

	EXPECT_EQ(*sennit::run(program, sennit::config().with_workers(2)), 7);
	EXPECT_EQ(ran, 10);
	bound.reset();
	EXPECT_EQ(*sennit::run(program), 7);
	EXPECT_EQ(ran, 20);
	bound.emplace(s);
}

TEST_P(schedulers, of_a_program_pass_what_it_throws)
{
	const auto       c = sennit::config().with_workers(1);
	std::atomic<int> ran{ 0 };
	int              kept = 0;

	EXPECT_THROW(sennit::run(
			     [&] {
				     sennit::schedule([&] { ++ran; });
				     throw std::range_error("too far");
			     },
			     c),
		     std::range_error);
	EXPECT_EQ(ran, 1);
	EXPECT_EQ(&sennit::run([&]() -> int & { return kept; }, c), &kept);
}

TEST_P(schedulers, of_a_program_name_a_wrong_config)
{
	auto c = sennit::config();
	bool ran = false;

	c.spin_ns = 0;
	c.start = 17;
	try {
		sennit::run([&] { ran = true; }, c);
		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_NE(std::string(e.what()).find("config::start"),
			  std::string::npos)
			<< e.what();
	}
	EXPECT_FALSE(ran);
}

TEST_P(schedulers, bound_run_all_before_they_let_go)
{
	std::atomic<int> ran{ 0 };

	for (int i = 0; i < 10; i++)
		sennit::schedule_here([&] {
			sennit::this_fiber::yield();
			++ran;
		});
	bound.reset();
	EXPECT_EQ(ran, 10);
	bound.emplace(s);
}

TEST_P(schedulers, with_work_left_do_not_end_in_time)
{
	mortal        m(workers());
	sennit::event go, waiting;

	bound.reset();
	std::thread t([&, mine = m.s]() mutable {
		sennit::binding b(mine);

		mine = sennit::scheduler();
		sennit::schedule([&] {
			waiting.set();
			go.wait();
		});
	});
	waiting.wait();
	EXPECT_FALSE(m.s.shutdown_for(1ms));
	EXPECT_TRUE(m.s);
	EXPECT_FALSE(m.s.shutdown_until(std::chrono::system_clock::now()));
	go.set();
	t.join();
	EXPECT_TRUE(m.s.shutdown_for(60s));
	EXPECT_FALSE(m.s);
	EXPECT_TRUE(m.ended.is_set());
	bound.emplace(s);
}

TEST_P(schedulers, tell_their_workers_and_counters)
{
	EXPECT_EQ(s.workers(), static_cast<unsigned>(GetParam()));
	sennit::schedule([] {});
	while (s.stats().tasks < 1)
		sennit::this_fiber::yield();
	if (GetParam() > 1) {
		s.set_workers(1);
		EXPECT_EQ(s.workers(), 1u);
	}
	EXPECT_THROW(s.set_workers(10000), std::system_error);
}

TEST(nonsense, in_a_config_is_reported)
{
	auto c = sennit::config().with_workers(SENNIT_WORKERS_MAX + 1);
	sennit::scheduler none;

	EXPECT_THROW(sennit::scheduler{ c }, std::system_error);
	EXPECT_EQ(sennit::scheduler::try_create(none, c),
		  std::errc::invalid_argument);
	EXPECT_FALSE(none);
	EXPECT_FALSE(sennit::scheduler::try_create(
		none, sennit::config().with_workers(1)));
	EXPECT_TRUE(none);
}

/* Each runs in a child of this process, which has one thread then, and
 * aborts. */
class empty_handles : public alone
{
};

#define EXPECT_MISUSE(statement, call)             \
	EXPECT_DEATH(static_cast<void>(statement), \
		     "misuse of sennit::" call     \
		     ": the sennit::scheduler is empty")

TEST_F(empty_handles, are_named_instead_of_used)
{
	sennit::scheduler s;
	sennit::scheduler gone = sennit::scheduler(
		sennit::config().with_workers(SENNIT_WORKERS_NONE));

	gone.shutdown();
	EXPECT_FALSE(s);
	EXPECT_FALSE(gone);
	EXPECT_MISUSE(s.schedule([] {}), "scheduler::schedule");
	EXPECT_MISUSE(s.try_schedule([] {}), "scheduler::try_schedule");
	EXPECT_MISUSE(s.run([] {}), "scheduler::run");
	EXPECT_MISUSE(s.workers(), "scheduler::workers");
	EXPECT_MISUSE(s.set_workers(1), "scheduler::set_workers");
	EXPECT_MISUSE(s.stats(), "scheduler::stats");
	EXPECT_MISUSE(s.print_report(2), "scheduler::print_report");
	EXPECT_MISUSE(s.print_stack_use(2), "scheduler::print_stack_use");
	EXPECT_MISUSE(gone.shutdown(), "scheduler::shutdown");
	EXPECT_MISUSE(sennit::binding{ s }, "binding");
	EXPECT_MISUSE(sennit::group{ s }, "group");
	EXPECT_MISUSE(sennit::parallel_options().on(s), "parallel_options::on");
	EXPECT_MISUSE(sennit::dag_options().on(gone), "dag_options::on");
}

TEST(adopted_references, are_released_by_the_handle)
{
	sennit_scheduler *made = nullptr;

	ASSERT_EQ(sennit_scheduler_create(&made, nullptr), 0);
	sennit::scheduler s = sennit::scheduler::adopt(made);
	sennit::scheduler other(s.get());

	EXPECT_TRUE(s == other);
	other = sennit::scheduler();
	EXPECT_TRUE(s.shutdown_for(60s));
	EXPECT_FALSE(sennit::scheduler::adopt(nullptr));
}

} // namespace
