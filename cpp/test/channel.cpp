/* SPDX-License-Identifier: Apache-2.0 */
/* channel.cpp - objects pass through channels complete, and none is lost. */
#include "world.hpp"

namespace
{

class channels : public world
{
};
ON_WORKERS(channels);

/* Counts its live instances; contains a pointer to itself. */
struct token {
	explicit token(int n) : number(n), self(this)
	{
		++alive;
	}
	token(token &&other) noexcept : number(other.number), self(this)
	{
		EXPECT_EQ(other.self, &other);
		other.number = -1;
		++alive;
	}
	token &operator=(token &&other) noexcept
	{
		number = other.number;
		other.number = -1;
		return *this;
	}
	~token()
	{
		EXPECT_EQ(self, this);
		--alive;
	}
	int                            number;
	token                         *self;
	static inline std::atomic<int> alive;
};

template <typename T, typename Make, typename Read>
void pass(std::size_t capacity, Make make, Read read)
{
	constexpr int      n = 100;
	sennit::channel<T> c(capacity);
	sennit::event      sent;
	int                next = 0;

	sennit::schedule([&] {
		for (int i = 0; i < n; i++)
			EXPECT_TRUE(c.send(make(i)));
		c.close();
		sent.set();
	});
	for (T &value : c)
		EXPECT_EQ(read(value), next++);
	EXPECT_EQ(next, n);
	sent.wait();
}

TEST_P(channels, carry_values_of_every_kind_in_order)
{
	struct point {
		int x, y;
	};
	const auto same = [](int i) { return i; };

	for (std::size_t capacity :
	     { std::size_t(0), std::size_t(3), sennit::unbounded }) {
		pass<int>(capacity, same, same);
		pass<point>(
			capacity,
			[](int i) {
				return point{ i, -i };
			},
			[](const point &p) { return p.x; });
		pass<std::string>(
			capacity, [](int i) { return std::to_string(i); },
			[](const std::string &t) { return std::stoi(t); });
		pass<std::unique_ptr<int>>(
			capacity,
			[](int i) { return std::make_unique<int>(i); },
			[](const std::unique_ptr<int> &p) { return *p; });
		pass<token>(
			capacity, [](int i) { return token(i); },
			[](const token &t) { return t.number; });
	}
	EXPECT_EQ(token::alive, 0);
}

TEST_P(channels, destroy_what_nobody_received)
{
	{
		sennit::channel<token>                c(10);
		sennit::channel<std::shared_ptr<int>> p(sennit::unbounded);
		auto shared = std::make_shared<int>(1);

		for (int i = 0; i < 10; i++) {
			EXPECT_TRUE(c.send(token(i)));
			EXPECT_TRUE(p.send(shared));
		}
		EXPECT_EQ(c.length(), 10u);
		EXPECT_EQ(c.receive()->number, 0);
		c.close();
		EXPECT_EQ(token::alive, 9);
		EXPECT_EQ(shared.use_count(), 11);
	}
	EXPECT_EQ(token::alive, 0);
}

TEST_P(channels, leave_unsent_values_where_they_were)
{
	sennit::channel<token>                c(1);
	sennit::channel<std::unique_ptr<int>> p;
	token                                 t(5);
	auto                                  u = std::make_unique<int>(6);

	EXPECT_EQ(c.try_send(token(1)), sennit::channel_status::done);
	EXPECT_EQ(c.try_send(std::move(t)), sennit::channel_status::timeout);
	EXPECT_EQ(c.send_for(std::move(t), 1ms),
		  sennit::channel_status::timeout);
	EXPECT_EQ(c.send_until(std::move(t), std::chrono::system_clock::now()),
		  sennit::channel_status::timeout);
	EXPECT_EQ(t.number, 5);
	c.close();
	EXPECT_FALSE(c.send(std::move(t)));
	EXPECT_EQ(t.number, 5);
	EXPECT_EQ(p.try_send(std::move(u)), sennit::channel_status::timeout);
	EXPECT_EQ(*u, 6);
}

TEST_P(channels, say_why_there_is_no_value)
{
	sennit::channel<int> c(1);

	in_each_place([&] {
		EXPECT_EQ(c.try_receive().status(),
			  sennit::channel_status::timeout);
		EXPECT_EQ(c.receive_for(1ms).status(),
			  sennit::channel_status::timeout);
		EXPECT_FALSE(c.receive_until(std::chrono::system_clock::now()));
	});
	EXPECT_TRUE(c.send(7));
	c.close();
	const auto last = c.receive();

	EXPECT_EQ(last.status(), sennit::channel_status::done);
	EXPECT_EQ(*last, 7);
	EXPECT_EQ(c.receive().status(), sennit::channel_status::closed);
	EXPECT_FALSE(c.try_receive());
}

TEST_P(channels, take_what_converts_to_their_values)
{
	sennit::channel<std::string> c(2);
	const std::string            text = "const";

	EXPECT_TRUE(c.send("literal"));
	EXPECT_EQ(c.try_send(text), sennit::channel_status::done);
	EXPECT_EQ(c.try_send("too much"), sennit::channel_status::timeout);
	EXPECT_EQ(c.send_for("too much", 1ms), sennit::channel_status::timeout);
	EXPECT_EQ(c.send_until(text, std::chrono::steady_clock::now()),
		  sennit::channel_status::timeout);
	EXPECT_EQ(*c.receive(), "literal");
	EXPECT_EQ(*c.receive(), "const");
}

TEST_P(channels, are_selected_with_events)
{
	sennit::channel<std::string> in;
	sennit::channel<token>       out(1);
	sennit::event                quit, done;
	std::string                  got;
	token                        t(3);

	sennit::schedule([&] {
		EXPECT_TRUE(in.send("hello"));
		done.set();
	});
	EXPECT_EQ(sennit::select(sennit::on_receive(
					 in,
					 [&](sennit::received<std::string> r) {
						 got = *r;
					 }),
				 sennit::on_event(quit, [] { ADD_FAILURE(); })),
		  0u);
	EXPECT_EQ(got, "hello");
	EXPECT_EQ(sennit::try_select(sennit::on_send(
			  out, t,
			  [](sennit::channel_status is) {
				  EXPECT_EQ(is, sennit::channel_status::done);
			  })),
		  0u);
	EXPECT_EQ(t.number, -1);
	t.number = 4;
	EXPECT_FALSE(sennit::select_for(
		1ms,
		sennit::on_send(out, t,
				[](sennit::channel_status) { ADD_FAILURE(); }),
		sennit::on_event(quit, [] { ADD_FAILURE(); })));
	EXPECT_EQ(t.number, 4);
	quit.set();
	EXPECT_EQ(sennit::select_until(
			  sennit::never,
			  sennit::on_send(out, t,
					  [](sennit::channel_status) {
						  ADD_FAILURE();
					  }),
			  sennit::on_event(quit, [] {})),
		  1u);
	EXPECT_EQ(t.number, 4);
	out.close();
	EXPECT_EQ(sennit::select(sennit::on_send(
			  out, t,
			  [](sennit::channel_status is) {
				  EXPECT_EQ(is, sennit::channel_status::closed);
			  })),
		  0u);
	EXPECT_EQ(t.number, 4);
	EXPECT_EQ(out.receive()->number, 3);
	done.wait();
}

/* What is not sent is back before another case's function looks at it. */
template <typename T, typename Make> void expect_kept(const Make &make)
{
	sennit::channel<T> full;
	sennit::event      e(sennit::event_mode::manual, true);
	T                  v = make(1);
	int                calls = 0;
	auto unsent = [](sennit::channel_status) { ADD_FAILURE(); };
	auto other = [&] {
		EXPECT_EQ(*v, *make(1));
		v = make(2);
		calls++;
	};
	auto expect_assigned = [&] {
		EXPECT_EQ(*v, *make(2));
		v = make(1);
	};

	sennit::select(sennit::on_send(full, v, unsent),
		       sennit::on_event(e, other));
	expect_assigned();
	EXPECT_TRUE(sennit::try_select(sennit::on_event(e, other),
				       sennit::on_send(full, v, unsent)));
	expect_assigned();
	EXPECT_TRUE(sennit::select_for(1h, sennit::on_send(full, v, unsent),
				       sennit::on_event(e, other)));
	expect_assigned();
	EXPECT_EQ(calls, 3);

	auto kept = sennit::on_send(full, v, unsent);

	EXPECT_FALSE(sennit::try_select(kept));
	EXPECT_EQ(*v, *make(1));
	v = make(3);
	EXPECT_FALSE(sennit::select_for(1ms, kept));
	EXPECT_EQ(*v, *make(3));
}

TEST_P(channels, in_a_select_give_values_back_before_they_call)
{
	expect_kept<std::optional<std::string>>([](int n) {
		return std::make_optional<std::string>(40, char('0' + n));
	});
	expect_kept<std::unique_ptr<int>>(
		[](int n) { return std::make_unique<int>(n); });
	expect_kept<std::optional<int>>(
		[](int n) { return std::make_optional(n); });
}

TEST_P(channels, in_a_select_that_is_cancelled_give_values_back)
{
	sennit::channel<std::string> full;
	sennit::group                g;

	g.spawn([&] {
		std::string v = "kept";
		auto        kept = sennit::on_send(full, v, [](auto) {});

		EXPECT_THROW(sennit::select(kept), sennit::cancelled);
		EXPECT_EQ(v, "kept");
	});
	g.cancel();
	static_cast<void>(g.wait(std::nothrow));
}

TEST_P(channels, in_a_select_compete_for_one_value)
{
	sennit::channel<std::unique_ptr<int>> full, room(1);
	auto                                  v = std::make_unique<int>(5);
	auto unsent = [](sennit::channel_status) { ADD_FAILURE(); };
	auto sent = [&](sennit::channel_status) { EXPECT_FALSE(v); };

	EXPECT_EQ(sennit::select(sennit::on_send(full, v, unsent),
				 sennit::on_send(room, v, sent)),
		  1u);
	EXPECT_EQ(**room.receive(), 5);
	v = std::make_unique<int>(6);
	EXPECT_EQ(sennit::select(sennit::on_send(room, v, sent),
				 sennit::on_send(full, v, unsent)),
		  0u);
	EXPECT_EQ(**room.receive(), 6);
}

/* As many as there are, of mixed kinds, used again and again. */
TEST_P(channels, in_a_select_may_be_a_range)
{
	std::vector<std::unique_ptr<sennit::channel<std::string>>> in;
	std::vector<sennit::select_case>                           cases;
	std::vector<int>                                           got(5);
	sennit::channel<token>                                     out(1);
	sennit::event                                              quit;
	token                                                      t(7);
	bool sent = false, done = false;

	for (std::size_t i = 0; i < got.size(); i++) {
		in.push_back(std::make_unique<sennit::channel<std::string>>(1));
		cases.push_back(sennit::on_receive(
			*in[i], [&, i](sennit::received<std::string> r) {
				got[i] += std::stoi(r.value());
			}));
	}
	cases.emplace_back(); /* never happens */
	cases.push_back(sennit::on_send(
		out, t, [&](sennit::channel_status) { sent = true; }));
	cases.push_back(sennit::on_event(quit, [&] { done = true; }));

	EXPECT_EQ(sennit::try_select(cases), 6u);
	EXPECT_TRUE(sent);
	EXPECT_EQ(out.receive()->number, 7);
	EXPECT_TRUE(out.send(token(8)));
	t.number = 9;
	EXPECT_FALSE(sennit::try_select(cases));
	EXPECT_FALSE(sennit::select_for(1ms, cases));
	EXPECT_EQ(t.number, 9);

	sennit::schedule([&] {
		for (int n = 1; n <= 10; n++)
			for (auto &c : in)
				EXPECT_TRUE(c->send(std::to_string(n)));
	});
	for (int n = 0; n < 50; n++)
		EXPECT_LT(sennit::select(cases), got.size());
	EXPECT_EQ(got, std::vector<int>(5, 55));
	EXPECT_EQ(t.number, 9);

	quit.set();
	EXPECT_EQ(sennit::select_until(sennit::never, cases), 7u);
	EXPECT_TRUE(done);
	cases.erase(cases.begin() + 1, cases.end());
	EXPECT_TRUE(in[0]->send("1"));
	EXPECT_EQ(sennit::select(cases), 0u);
	cases.clear();
	EXPECT_FALSE(sennit::select_for(1us, cases));
}

TEST_P(channels, in_a_select_go_with_futures_and_times)
{
	sennit::channel<int>                      nobody;
	sennit::event                             never_set;
	std::vector<sennit::promise<std::string>> p(4);
	std::vector<sennit::future<std::string>>  f;
	std::vector<sennit::select_case>          cases;
	std::vector<std::string>                  got;
	const auto now = std::chrono::steady_clock::now();
	bool       late = false;

	for (auto &one : p)
		f.push_back(one.get_future());
	for (auto &one : f)
		cases.push_back(sennit::on_ready(
			one, [&] { got.push_back(one.get()); }));
	cases.push_back(sennit::on_receive(nobody, [](auto) {}));
	EXPECT_FALSE(sennit::try_select(cases));
	sennit::schedule([&] {
		p[2].set_value("2");
		p[0].set_value("0");
		p[3].set_error(std::make_error_code(std::errc::io_error));
		p[1].set_value("1");
	});
	for (int n = 0; n < 4; n++) {
		try {
			sennit::select(cases);
		} catch (const std::system_error &e) {
			EXPECT_EQ(e.code(), std::errc::io_error);
			got.push_back("3");
		}
	}
	std::sort(got.begin(), got.end());
	EXPECT_EQ(got, (std::vector<std::string>{ "0", "1", "2", "3" }));
	EXPECT_FALSE(sennit::try_select(cases)); /* they have no state */

	cases.push_back(sennit::on_time(now + 1ms, [&] { late = true; }));
	EXPECT_EQ(sennit::select(cases), 5u);
	EXPECT_TRUE(late);
	EXPECT_GE(std::chrono::steady_clock::now(), now + 1ms);
	EXPECT_EQ(
		sennit::select(
			sennit::on_event(never_set, [] {}),
			sennit::on_time(std::chrono::system_clock::now(),
					[] {}),
			sennit::on_time(sennit::never, [] { ADD_FAILURE(); })),
		1u);
}

TEST_P(channels, between_many_lose_nothing)
{
	sennit::channel<std::string> c(4);
	sennit::wait_group           senders(4), receivers(4);
	std::atomic<int>             sum{ 0 };

	for (int i = 0; i < 4; i++) {
		sennit::schedule([&] {
			for (int n = 1; n <= 100; n++)
				EXPECT_TRUE(c.send(std::to_string(n)));
			senders.done();
		});
		sennit::schedule([&] {
			for (auto &text : c)
				sum += std::stoi(text);
			receivers.done();
		});
	}
	senders.wait();
	c.close();
	receivers.wait();
	EXPECT_EQ(sum, 4 * 5050);
}

} // namespace
