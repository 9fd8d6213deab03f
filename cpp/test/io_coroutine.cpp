/* SPDX-License-Identifier: Apache-2.0 */
/* io_coroutine.cpp - co_await of the calls of io.hpp, with each way of waiting
 * (SENNIT_IO). */
#include "world.hpp"

#include "sennit/cpp/io.hpp"

#include <sys/socket.h>

#include <span>

namespace io = sennit::io;

#if SENNIT_CPP_COROUTINES

namespace
{

class io_coroutines : public world
{
public:
	static std::pair<io::socket, io::socket> connection()
	{
		int fds[2];

		EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				       fds),
			  0);
		return { io::socket(fds[0]), io::socket(fds[1]) };
	}
};
INSTANTIATE_TEST_SUITE_P(workers, io_coroutines, testing::Values(0, 1, 4));

/* Its frame owns the connection. */
sennit::future<int> echo_lines(io::socket s)
{
	io::reader r(s);
	int        count = 0;

	while (auto line = co_await r.async_read_line(60s)) {
		co_await s.async_send_all(std::string(*line) + "!\n");
		count++;
	}
	co_return count;
}

sennit::future<int> serve(const io::listener &l, int connections)
{
	std::vector<sennit::future<int>> all;
	int                              lines = 0;

	while (connections--)
		all.push_back(echo_lines(co_await l.async_accept()));
	for (auto &one : all)
		lines += co_await std::move(one);
	co_return lines;
}

sennit::future<void> talk(io::address at, int i)
{
	const io::socket  s = io::connect(at);
	const std::string name = std::to_string(i);
	std::string       answer(name.size() + 2, ' ');

	for (int round = 0; round < 3; round++) {
		co_await s.async_send_all(name + "\n");
		EXPECT_TRUE(co_await s.async_read_exactly(answer));
		EXPECT_EQ(answer, name + "!\n");
	}
}

TEST_P(io_coroutines, serve_connections)
{
	const io::listener                l = io::listen_at("127.0.0.1:0");
	auto                              lines = serve(l, 100);
	std::vector<sennit::future<void>> clients;

	for (int i = 0; i < 100; i++)
		clients.push_back(talk(l.local_address(), i));
	for (auto &one : clients)
		one.get();
	EXPECT_EQ(lines.get(), 300);
}

sennit::future<std::size_t> read_one(const io::socket &s)
{
	char byte;

	co_return co_await s.async_read(std::span(&byte, 1));
}

TEST_P(io_coroutines, do_not_wait_for_what_is_there)
{
	const auto [a, b] = connection();

	a.send_all("x");
	auto f = read_one(b);
	EXPECT_TRUE(f.is_ready());
	EXPECT_EQ(f.get(), 1u);
	f = read_one(b);
	EXPECT_FALSE(f.is_ready());
	a.send_all("x");
	EXPECT_EQ(f.get(), 1u);
}

/* What was sent before the wait is not sent again. */
TEST_P(io_coroutines, large_data_arrives_once)
{
	auto [a, b] = connection();
	const std::string sent(5 << 20, 's');
	const auto        send = [&](io::socket to) -> sennit::future<void> {
                co_await to.async_send_all(sent, 300s);
	};
	auto f = send(std::move(a));

	EXPECT_EQ(b.read_all(300s), sent);
	f.get();
}

sennit::future<void> expect_timeouts(const io::socket &s, const io::listener &l)
{
	char            byte;
	std::error_code code;

	EXPECT_EQ(co_await s.async_read({ &byte, 1 }, 1ms, code), 0u);
	EXPECT_EQ(code, std::errc::timed_out);
	EXPECT_EQ(co_await s.async_read({ &byte, 1 }, 0s, code), 0u);
	EXPECT_EQ(code, std::errc::timed_out);
	EXPECT_FALSE(co_await l.async_accept(1ms, code));
	EXPECT_EQ(code, std::errc::timed_out);
	co_await s.async_read({ &byte, 1 }, 1ms);
}

TEST_P(io_coroutines, have_deadlines)
{
	const auto         both = connection();
	const io::listener l = io::listen_at("127.0.0.1:0");

	EXPECT_THROW(expect_timeouts(both.first, l).get(), sennit::timed_out);
}

sennit::future<void> read_all(io::socket s, int &reads, std::error_code &code)
{
	char byte;

	while (co_await s.async_read({ &byte, 1 }, code))
		reads++;
	co_await s.async_read({ &byte, 1 });
}

TEST_P(io_coroutines, stay_in_the_group_of_who_called_them)
{
	auto [a, b] = connection();
	int                  reads = 0;
	sennit::group        g;
	sennit::future<void> f;
	std::error_code      code;

	a.send_all("xyz");
	g.spawn([&, &b = b] { f = read_all(std::move(b), reads, code); });
	g.spawn([&] { g.cancel(); });
	EXPECT_EQ(g.wait(std::nothrow), std::errc::operation_canceled);
	ASSERT_TRUE(f.valid());
	EXPECT_TRUE(f.is_ready()); /* the group has waited for it */
	EXPECT_THROW(f.get(), sennit::cancelled);
	EXPECT_EQ(code, std::errc::operation_canceled);
	EXPECT_EQ(reads, 3);
}

sennit::future<int> run_a_child(io::descriptor &out)
{
	const io::pipe to = io::pipe::open();
	io::process    child(io::command{ "cat" }.in(to.in).out(out));

	out.close();
	co_await to.out.async_write_all("through a child");
	child.kill(SIGTERM);
	co_return (co_await child.async_wait(60s)).signal();
}

TEST_P(io_coroutines, run_children)
{
	io::pipe from = io::pipe::open();

	EXPECT_EQ(run_a_child(from.out).get(), SIGTERM);
	EXPECT_LE(from.in.read_all().size(), 15u);
}

} // namespace

#else

TEST(io_coroutines, are_not_there)
{
	GTEST_SKIP() << "this compiler has none";
}

#endif
