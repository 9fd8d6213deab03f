/* SPDX-License-Identifier: Apache-2.0 */
/* coroutine.cpp - a coroutine continues when the awaited event has happened. */
#include "world.hpp"

#if SENNIT_CPP_COROUTINES && __has_include(<ranges>)
#include <ranges>
#endif

#if SENNIT_CPP_COROUTINES

namespace
{

class coroutines : public world
{
};
ON_WORKERS(coroutines);

sennit::future<int> await_all(sennit::event &e, sennit::future<int> f,
			      sennit::channel<std::string> &c)
{
	co_await e;
	const int  n = co_await std::move(f);
	const auto text = co_await sennit::async_receive(c);

	EXPECT_TRUE(sennit::scheduler::current());
	co_return n + std::stoi(*text);
}

TEST_P(coroutines, go_on_when_all_has_happened)
{
	sennit::event                e;
	sennit::promise<int>         p;
	sennit::channel<std::string> c;
	auto                         f = await_all(e, p.get_future(), c);

	EXPECT_FALSE(f.is_ready());
	e.set();
	sennit::this_fiber::yield();
	EXPECT_FALSE(f.is_ready());
	p.set_value(40);
	EXPECT_TRUE(c.send("2"));
	EXPECT_EQ(f.get(), 42);
}

TEST_P(coroutines, do_not_wait_for_what_is_there)
{
	sennit::event                e(sennit::event_mode::manual, true);
	sennit::promise<int>         p;
	sennit::channel<std::string> c(1);

	p.set_value(1);
	EXPECT_TRUE(c.send("2"));
	auto f = await_all(e, p.get_future(), c);

	EXPECT_TRUE(f.is_ready());
	EXPECT_EQ(f.get(), 3);
}

/* In a member of a group a coroutine is a part of the member. */
template <typename Error>
sennit::future<void> expect_ended(sennit::event &e, sennit::future<int> f,
				  sennit::channel<std::string> &c)
{
	EXPECT_THROW(co_await e, Error);
	EXPECT_THROW(co_await std::move(f), Error);
	EXPECT_THROW(co_await sennit::async_receive(c), Error);
	co_await e;
	ADD_FAILURE() << "it goes on";
}

TEST_P(coroutines, end_with_their_group)
{
	sennit::event                e;
	sennit::promise<int>         p, q;
	sennit::channel<std::string> c;
	sennit::future<void>         first, second;
	sennit::group                g;
	sennit::group h(std::chrono::steady_clock::now() + 100us);

	EXPECT_TRUE(g.spawn([&] {
		first = expect_ended<sennit::cancelled>(e, p.get_future(), c);
	}));
	EXPECT_TRUE(h.spawn([&] {
		second = expect_ended<sennit::timed_out>(e, q.get_future(), c);
	}));
	g.cancel();
	EXPECT_THROW(g.wait(), sennit::cancelled);
	EXPECT_TRUE(first.is_ready());
	EXPECT_THROW(first.get(), sennit::cancelled);
	h.wait();
	EXPECT_TRUE(second.is_ready());
	EXPECT_THROW(second.get(), sennit::timed_out);
}

TEST_P(coroutines, are_waited_for_by_their_group)
{
	sennit::event                e;
	sennit::promise<int>         p;
	sennit::channel<std::string> c(1);
	sennit::future<int>          f;
	sennit::group                g;

	EXPECT_TRUE(g.spawn([&] { f = await_all(e, p.get_future(), c); }));
	sennit::schedule([&] {
		e.set();
		sennit::this_fiber::yield();
		p.set_value(40);
		sennit::this_fiber::yield();
		EXPECT_TRUE(c.send("2"));
	});
	g.wait();
	EXPECT_TRUE(f.is_ready());
	EXPECT_EQ(f.get(), 42);
}

sennit::future<void> fail_after(sennit::event &e)
{
	co_await e;
	throw std::string("thrown");
}

sennit::future<void> pass_on(sennit::event &e)
{
	co_await fail_after(e);
	ADD_FAILURE();
}

TEST_P(coroutines, pass_exceptions_to_who_awaits_them)
{
	sennit::event e;
	auto          f = pass_on(e);

	e.set();
	EXPECT_THROW(f.get(), std::string);
}

sennit::future<int> share(sennit::shared_future<std::unique_ptr<int>> f)
{
	co_return *co_await f;
}

TEST_P(coroutines, await_shared_futures)
{
	sennit::promise<std::unique_ptr<int>>       p;
	sennit::shared_future<std::unique_ptr<int>> f = p.get_future();
	auto                                        a = share(f), b = share(f);

	p.set_value(std::make_unique<int>(8));
	EXPECT_EQ(a.get() + b.get(), 16);
}

sennit::future<int> sum_of(sennit::channel<std::string> &c)
{
	int sum = 0;

	for (;;) {
		auto text = co_await sennit::async_receive(c);

		if (!text)
			co_return sum;
		sum += std::stoi(*text);
	}
}

TEST_P(coroutines, receive_until_the_channel_is_closed)
{
	sennit::channel<std::string> c(2);
	auto                         a = sum_of(c), b = sum_of(c);

	for (int i = 1; i <= 100; i++)
		EXPECT_TRUE(c.send(std::to_string(i)));
	c.close();
	EXPECT_EQ(a.get() + b.get(), 5050);
}

/* The coroutine's frame is gone when its result is available. */
sennit::future<void> hold(std::atomic<int> &alive, sennit::event &e)
{
	struct held {
		std::atomic<int> &n;
		~held()
		{
			--n;
		}
	};
	++alive;
	held h{ alive };

	co_await e;
}

TEST_P(coroutines, have_let_go_when_they_are_done)
{
	for (int i = 0; i < 50; i++) {
		std::atomic<int> alive{ 0 };
		sennit::event    e;
		auto             f = hold(alive, e);

		EXPECT_EQ(alive, 1);
		e.set();
		f.get();
		EXPECT_EQ(alive, 0);
	}
}

#if defined(__cpp_lib_ranges)

static_assert(std::ranges::input_range<sennit::channel<int>>);
static_assert(std::ranges::input_range<
	      sennit::channel<std::unique_ptr<std::string>>>);
static_assert(!std::is_convertible_v<int, sennit::received<int>>);
static_assert(
	!std::is_convertible_v<sennit::received<int>, std::optional<int>>);

TEST_P(coroutines, may_take_a_channel_as_a_range)
{
	sennit::channel<int> c(8);
	int                  sum = 0;

	for (int i = 0; i < 6; i++)
		EXPECT_TRUE(c.send(i));
	c.close();
	for (const int n :
	     c | std::views::filter([](int i) { return i % 2; }) |
		     std::views::transform([](int i) { return 10 * i; }))
		sum += n;
	EXPECT_EQ(sum, 90);
}

#endif

} // namespace

#else

TEST(coroutines, are_not_there)
{
	GTEST_SKIP() << "this compiler has none";
}

#endif
