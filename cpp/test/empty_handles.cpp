/* SPDX-License-Identifier: Apache-2.0 */
/* empty_handles.cpp - what refers to nothing is named by one line and not used:
 * all classes that can be made by default or moved from.
 *
 * Each statement runs in a child of this process, which aborts. There are no
 * workers here, so that the process has one thread.
 */
#include "world.hpp"
#include "sennit/cpp/dag.hpp"
#include "sennit/cpp/domain.hpp"
#include "sennit/cpp/weak.hpp"

namespace
{

class empty : public alone
{
public:
	void SetUp() override
	{
		alone::SetUp();
		s = sennit::scheduler(
			sennit::config().with_workers(SENNIT_WORKERS_NONE));
		bound.emplace(s);
	}

	sennit::scheduler              s;
	std::optional<sennit::binding> bound;
};

#define EXPECT_MISUSE(statement, text) \
	EXPECT_DEATH(static_cast<void>(statement), "sennit: misuse of " text)

template <typename T> T moved_from(T value)
{
	static_cast<void>(T(std::move(value)));
	return value;
}

void expect_stateless(sennit::future<int> &&f)
{
	const char *const text = ": the future has no state";
	const auto        line = [&](const char *call) {
                return std::string("misuse of sennit::") + call + text;
	};

	EXPECT_FALSE(f.valid());
	EXPECT_DEATH(f.get(), line("future::get"));
	EXPECT_DEATH(f.wait(), line("future::wait"));
	EXPECT_DEATH(static_cast<void>(f.wait_for(1s)),
		     line("future::wait_for"));
	EXPECT_DEATH(static_cast<void>(f.wait_until(sennit::never)),
		     line("future::wait_until"));
	EXPECT_DEATH(f.is_ready(), line("future::is_ready"));
	EXPECT_DEATH(f.has_value(), line("future::has_value"));
	EXPECT_DEATH(f.native_handle(), line("future::native_handle"));
	EXPECT_DEATH(std::move(f).then([](int) {}), line("future::then"));
	EXPECT_DEATH(sennit::wait_any(f), line("wait_any"));
	EXPECT_DEATH(sennit::wait_all(f), line("wait_all"));
	EXPECT_DEATH(f.share().get(), line("future::get"));
}

TEST_F(empty, futures_are_named)
{
	sennit::promise<int> p;
	auto                 f = p.get_future();

	p.set_value(1);
	expect_stateless({});
	expect_stateless(moved_from(std::move(f)));
}

TEST_F(empty, futures_that_were_got_are_named)
{
	sennit::promise<int> p, failed;
	auto                 f = p.get_future(), g = failed.get_future();

	p.set_value(1);
	failed.set_error(std::make_error_code(std::errc::io_error));
	EXPECT_EQ(f.get(), 1);
	EXPECT_THROW(g.get(), std::system_error);
	expect_stateless(std::move(f));
	expect_stateless(std::move(g));
}

TEST_F(empty, promises_are_named)
{
	auto p = moved_from(sennit::promise<int>());

	EXPECT_MISUSE(p.get_future(), "sennit::promise: .* moved from");
	EXPECT_MISUSE(p.set_value(1), "sennit::promise: .* moved from");
	EXPECT_MISUSE(p.set_by([] { return 1; }), "sennit::promise: .* moved");
	EXPECT_MISUSE(p.set_error(std::make_error_code(std::errc::io_error)),
		      "sennit::promise: .* moved from");
	p = sennit::promise<int>();
	p.set_value(2);
}

TEST_F(empty, errors_are_named)
{
	sennit::promise<int> p;
	auto                 f = p.get_future();

	EXPECT_MISUSE(p.set_error(std::error_code()),
		      "sennit::promise::set_error: the code is 0");
	EXPECT_MISUSE(p.set_exception(nullptr),
		      "sennit::promise::set_exception: .* null");
	EXPECT_FALSE(f.is_ready());
}

TEST_F(empty, domains_are_named)
{
	sennit::scheduler none;
	sennit::domain    d, moved = moved_from(sennit::domain(s));

	EXPECT_MISUSE(sennit::domain(none), "sennit::domain: .* is empty");
	EXPECT_MISUSE(sennit::domain(none, [] {}), "sennit::domain: .* empty");
	EXPECT_MISUSE(d.schedule([] {}), "sennit::domain::schedule: .* empty");
	EXPECT_MISUSE(d.try_schedule([n = std::string()] {}),
		      "sennit::domain::try_schedule: .* empty");
	EXPECT_MISUSE(moved.schedule([] {}), "sennit::domain::schedule: .* e");
}

TEST_F(empty, weak_handles_are_named)
{
	sennit::weak_scheduler w, of_none{ sennit::scheduler() };
	auto                   moved = moved_from(sennit::weak_scheduler(s));

	EXPECT_MISUSE(w.on_end([] {}), "sennit::weak_scheduler::on_end: .* em");
	EXPECT_MISUSE(of_none.on_end([] {}), "sennit::weak_scheduler::on_end");
	EXPECT_MISUSE(moved.on_end([] {}), "sennit::weak_scheduler::on_end");
	EXPECT_FALSE(w.lock());
	EXPECT_FALSE(moved.lock());
}

TEST_F(empty, resources_are_named)
{
	sennit::resources none(nullptr);
	auto              moved = moved_from(sennit::resources(1u));

	EXPECT_MISUSE(none.stats(), "sennit::resources::stats: .* empty");
	EXPECT_MISUSE(moved.stats(), "sennit::resources::stats: .* empty");
}

TEST_F(empty, shared_objects_are_named)
{
	auto e = moved_from(sennit::shared<sennit::event>());
	auto m = moved_from(sennit::shared<sennit::mutex>());

	EXPECT_MISUSE(e->set(), "sennit::shared: it was moved from");
	EXPECT_MISUSE((*m).lock(), "sennit::shared: it was moved from");
}

TEST_F(empty, dags_are_named)
{
	sennit::dag_builder<> b;
	sennit::dag<>         none;
	auto                  moved = moved_from(b.build());

	EXPECT_FALSE(none);
	EXPECT_MISUSE(none.run(), "sennit::dag::run: .* empty");
	EXPECT_MISUSE(none.run_size(), "sennit::dag::run_size: .* empty");
	EXPECT_MISUSE(moved.run(), "sennit::dag::run: .* empty");
}

TEST_F(empty, loans_are_named)
{
	sennit::pool<std::string>       pool(1);
	auto                            loan = pool.borrow();
	sennit::pool<std::string>::loan none;

	EXPECT_MISUSE(*none, "sennit::pool::loan: it is empty");
	EXPECT_MISUSE(none->size(), "sennit::pool::loan: it is empty");
	loan.reset();
	EXPECT_MISUSE(loan->size(), "sennit::pool::loan: it is empty");
}

TEST_F(empty, locks_are_named)
{
	sennit::condition_variable      c;
	std::unique_lock<sennit::mutex> none;

	EXPECT_MISUSE(c.wait(none), "sennit::condition_variable: .* no mutex");
	EXPECT_MISUSE(c.wait_for(none, 1s), "sennit::condition_variable: .*");
}

TEST_F(empty, cases_that_are_too_many_are_named)
{
	std::vector<sennit::select_case> cases(SENNIT_SELECT_MAX);
	sennit::event                    e(sennit::event_mode::manual, true);

	cases.back() = sennit::on_event(e, [] {});
	EXPECT_EQ(sennit::select(cases), SENNIT_SELECT_MAX - 1u);
	cases.emplace_back();
	EXPECT_MISUSE(sennit::select(cases), "sennit::select: more than");
}

/* The library names these itself. */
TEST_F(empty, threads_are_named)
{
	bound.reset();
	EXPECT_MISUSE(sennit::schedule([] {}), "sennit_");
	EXPECT_MISUSE(sennit::schedule([n = std::string()] {}), "sennit_");
	EXPECT_MISUSE(sennit::schedule_here([] {}), "sennit_");
	EXPECT_MISUSE(sennit::schedule_background([] {}), "sennit_");
	EXPECT_MISUSE(sennit::async([] {}), "sennit_");
	EXPECT_MISUSE(sennit::wait_group().spawn([] {}), "sennit_");
	EXPECT_MISUSE(sennit::group().spawn([] {}), "sennit_");
	EXPECT_MISUSE(sennit::parallel_for(0, 9, [](int) {}), "sennit_");
	EXPECT_MISUSE(sennit::dag_builder<>().build().run(), "sennit_");
}

TEST(a_config, that_is_refused_names_its_field)
{
	auto c = sennit::config().with_stack_size(100);

	try {
		sennit::scheduler s(c);

		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code(), std::errc::invalid_argument);
		EXPECT_NE(std::string(e.what()).find("config::stack_size"),
			  std::string::npos)
			<< e.what();
	}
}

} // namespace
