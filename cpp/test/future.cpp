/* SPDX-License-Identifier: Apache-2.0 */
/* future.cpp - values, exceptions and continuations of futures. */
#include "world.hpp"

namespace
{

class futures : public world
{
};
ON_WORKERS(futures);

TEST_P(futures, hand_over_what_a_task_returns)
{
	in_each_place([this] {
		sennit::promise<std::unique_ptr<int>> p;
		auto                                  f = p.get_future();

		if (!GetParam() && !sennit::scheduler::current())
			return; /* no worker would run it */
		s.schedule([p = std::move(p)]() mutable {
			p.set_value(std::make_unique<int>(9));
		});
		EXPECT_EQ(*f.get(), 9);
		EXPECT_FALSE(f.valid());
	});
}

TEST_P(futures, of_async_calls_get_values_references_and_nothing)
{
	int  number = 4;
	auto value = sennit::async([](int a, int b) { return a * b; }, 6, 7);
	auto reference = sennit::async([&]() -> int & { return number; });
	auto nothing = sennit::async([&] { number++; });

	nothing.get();
	EXPECT_EQ(value.get(), 42);
	EXPECT_EQ(&reference.get(), &number);
	EXPECT_EQ(number, 5);
}

TEST_P(futures, throw_what_the_task_throws)
{
	auto f = sennit::async([]() -> int { throw std::string("thrown"); });

	f.wait();
	EXPECT_TRUE(f.is_ready());
	EXPECT_FALSE(f.has_value());
	EXPECT_THROW(f.get(), std::string);
}

TEST_P(futures, of_broken_promises_say_so)
{
	sennit::future<int> f;
	{
		sennit::promise<int> p;

		f = p.get_future();
		p = sennit::promise<int>();
		EXPECT_TRUE(f.is_ready());
	}
	try {
		f.get();
		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code(), std::errc::broken_pipe);
	}
}

TEST_P(futures, carry_error_codes)
{
	sennit::promise<void> p;
	auto                  f = p.get_future();

	p.set_error(std::make_error_code(std::errc::io_error));
	EXPECT_THROW(f.get(), std::system_error);
	EXPECT_THROW(p.set_value(), std::system_error);
	EXPECT_THROW(p.get_future(), std::system_error);
}

TEST_P(futures, time_out)
{
	sennit::promise<int> p;
	auto                 f = p.get_future();

	in_each_place([&] {
		EXPECT_FALSE(f.is_ready());
		EXPECT_FALSE(f.wait_for(1ms));
		EXPECT_FALSE(f.wait_until(std::chrono::system_clock::now()));
	});
	p.set_value(1);
	EXPECT_TRUE(f.wait_for(0s));
}

TEST_P(futures, shared_serve_many)
{
	sennit::promise<std::string>       p;
	sennit::shared_future<std::string> f = p.get_future();
	sennit::wait_group                 done(5);

	for (int i = 0; i < 5; i++)
		sennit::schedule([&, f] {
			EXPECT_EQ(f.get(), "for all");
			done.done();
		});
	p.set_value("for all");
	done.wait();
	EXPECT_EQ(&f.get(), &f.get());
}

TEST_P(futures, shared_ones_that_are_temporaries_give_copies)
{
	using shared = sennit::shared_future<std::string>;
	using reference = sennit::shared_future<std::string &>;

	static_assert(std::is_same_v<decltype(std::declval<shared &>().get()),
				     const std::string &>);
	static_assert(std::is_same_v<decltype(std::declval<shared>().get()),
				     std::string>);
	static_assert(std::is_same_v<decltype(std::declval<reference>().get()),
				     std::string &>);
	const std::string &text =
		sennit::async([] { return std::string(100, 'x'); })
			.share()
			.get();

	EXPECT_EQ(text, std::string(100, 'x'));
	sennit::async([] {}).share().get();
}

template <typename F, typename = void> struct continues : std::false_type {
};
template <typename F>
struct continues<F, std::void_t<decltype(std::declval<F>().then(
			    std::declval<int (*)(int)>()))>> : std::true_type {
};

/* It would be empty afterwards, and nothing in the text would say so. */
static_assert(continues<sennit::future<int>>::value);
static_assert(!continues<sennit::future<int> &>::value);

TEST_P(futures, chain)
{
	auto f = sennit::async([] {
			 return 20;
		 }).then([](int n) {
			   return std::to_string(n + 1);
		   }).then([](const std::string &t) { return t + t; });

	EXPECT_EQ(f.get(), "2121");
}

TEST_P(futures, chain_past_errors)
{
	bool called = false;
	auto f = sennit::async([]() -> int {
			 throw std::runtime_error("no");
		 }).then([&](int) { called = true; });

	EXPECT_THROW(f.get(), std::runtime_error);
	EXPECT_FALSE(called);
	auto g = sennit::async([] {}).then([]() -> int { throw 5; });

	EXPECT_THROW(g.get(), int);
}

TEST_P(futures, chain_to_another_scheduler)
{
	sennit::scheduler    other(sennit::config().with_workers(1));
	sennit::promise<int> p;
	auto called = [&, mark = std::make_unique<int>()](int n) {
		EXPECT_TRUE(sennit::scheduler::current() == other);
		return n + *mark;
	};
	auto f = p.get_future().then(other, std::move(called));

	p.set_value(3);
	EXPECT_EQ(f.get(), 3);
	EXPECT_TRUE(other.shutdown_for(60s));
}

TEST_P(futures, several_are_waited_for_at_once)
{
	sennit::promise<int>  a;
	sennit::promise<void> b;
	auto                  fa = a.get_future();
	auto                  fb = b.get_future();

	sennit::schedule([&] { b.set_value(); });
	EXPECT_EQ(sennit::wait_any(fa, fb), 1u);
	sennit::schedule([&] { a.set_value(1); });
	sennit::wait_all(fa, fb);
	EXPECT_TRUE(fa.is_ready());
}

TEST_P(futures, of_a_range_are_waited_for_at_once)
{
	std::vector<sennit::promise<std::string>>  p(5);
	std::vector<sennit::future<std::string>>   f;
	std::vector<sennit::future<std::string> *> pointers;

	for (auto &one : p)
		f.push_back(one.get_future());
	for (auto &one : f)
		pointers.push_back(&one);
	EXPECT_FALSE(sennit::try_wait_any(f));
	EXPECT_FALSE(sennit::wait_any_for(1ms, f));
	EXPECT_FALSE(sennit::wait_all_until(
		std::chrono::system_clock::now() + 1ms, pointers));
	sennit::schedule([&] { p[3].set_value("x"); });
	EXPECT_EQ(sennit::wait_any(f), 3u);
	EXPECT_EQ(sennit::wait_any_until(sennit::never, pointers), 3u);
	EXPECT_FALSE(sennit::try_wait_all(f));
	sennit::schedule([&] {
		for (std::size_t i : { 0u, 1u, 2u, 4u })
			p[i].set_value("y");
	});
	sennit::wait_all(pointers);
	EXPECT_EQ(sennit::wait_any(f), 0u);
	EXPECT_EQ(f[3].get(), "x");
	f.clear();
	EXPECT_TRUE(sennit::try_wait_all(f));
}

TEST_P(futures, leave_events_to_be_waited_for_likewise)
{
	std::array<sennit::event, 3>  all;
	sennit::shared<sennit::event> shared;
	sennit::event                 one(sennit::event_mode::automatic);

	EXPECT_FALSE(sennit::wait_any_for(1ms, all));
	sennit::schedule([&] { all[2].set(); });
	EXPECT_EQ(sennit::wait_any(all), 2u);
	EXPECT_FALSE(sennit::try_wait_all(all));
	one.set();
	EXPECT_EQ(sennit::wait_any_for(1h, shared, std::ref(one), all[0]), 1u);
	EXPECT_FALSE(one.is_set());
	for (auto &e : all)
		e.set();
	sennit::wait_all(all[0], all[1], &all[2]);
}

/* The shared state must live until all have finished with it. */
TEST_P(futures, may_end_before_the_promise_does)
{
	for (int i = 0; i < 200; i++) {
		auto p = std::make_unique<sennit::promise<std::string>>();
		auto f = p->get_future();

		sennit::schedule([raw = p.get()] { raw->set_value("x"); });
		f.wait();
		p.reset();
		EXPECT_EQ(f.get(), "x");
	}
}

} // namespace
