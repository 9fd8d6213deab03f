/* SPDX-License-Identifier: Apache-2.0 */
/* io_serve.cpp - what ends one connection of accept_each() ends no other, with
 * each way of waiting (SENNIT_IO): handlers as cpp/docs/cpp.md writes them,
 * without a try. */
#include "world.hpp"

#include "sennit/cpp/io.hpp"

#include <functional>
#include <iostream>
#include <list>

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace io = sennit::io;

namespace
{

class io_servers : public world
{
};
INSTANTIATE_TEST_SUITE_P(workers, io_servers, testing::Values(0, 1, 4));

/* Answers lines; the line "error" by what `thrown` does. */
std::function<void()> thrown;

void answer(io::socket s)
{
	io::reader in(s);

	while (const auto line = in.read_line()) {
		if (*line == "error")
			thrown();
		s.send_all(std::string(*line) + "!\n");
	}
}

struct client {
	explicit client(const io::listener &l)
	    : s(io::connect(l.local_address(), 60s))
	{
	}

	std::string ask(const std::string &text)
	{
		s.send_all(text + "\n", 60s);
		return std::string(in.read_line(60s).value_or("the end"));
	}
	void reset()
	{
		const linger at_once{ 1, 0 };

		EXPECT_EQ(::setsockopt(s.native_handle(), SOL_SOCKET, SO_LINGER,
				       &at_once, sizeof(at_once)),
			  0);
		s.close();
	}

	io::socket s;
	io::reader in{ s };
};

/* What a client may do to its connection. */
void (*const ways[])(client &) = {
	[](client &c) { c.reset(); }, /* before it has said anything */
	[](client &c) {
		EXPECT_EQ(c.ask("hi"), "hi!");
		c.reset();
	},
	[](client &c) { /* with answers that it has not read */
			c.s.send_all("a\nb\nc\n", 60s);
			EXPECT_EQ(c.s.poll(POLLIN, 60s), POLLIN);
			c.reset();
	},
	[](client &c) { /* in the middle of a line */
			c.s.send_all("half", 60s);
			c.reset();
	},
	[](client &c) { /* half-closed, and then gone */
			c.s.send_all("a\nb", 60s);
			c.s.shutdown(SHUT_WR);
			EXPECT_EQ(c.in.read_line(60s), "a!");
	},
	[](client &c) { c.s.close(); },
	[](client &) {}, /* silent */
};

/* A server, and a client whose connection must outlive everything. */
template <typename Serve> struct service {
	explicit service(Serve &&serve)
	{
		l.accept_each(door, people, std::forward<Serve>(serve));
	}
	void stop(bool cancel)
	{
		door.cancel();
		static_cast<void>(door.wait(std::nothrow));
		if (cancel)
			people.cancel();
	}

	io::listener  l = io::listen_at("127.0.0.1:0");
	sennit::group people, door;
};
template <typename Serve> service(Serve &&) -> service<Serve>;

/* All that clients do, beside one that goes on; and then a stop. */
template <typename Serve> void attack(Serve &&serve, bool cancel)
{
	service<Serve>    server(std::forward<Serve>(serve));
	std::list<client> all;
	{
		client beside(server.l);

		EXPECT_EQ(beside.ask("first"), "first!");
		for (const auto way : ways)
			for (int i = 0; i < 20; i++)
				way(all.emplace_back(server.l));
		EXPECT_EQ(beside.ask("last"), "last!");
	}
	server.stop(cancel);
	if (!cancel)
		all.clear();
	EXPECT_EQ(server.people.wait(std::nothrow).value(),
		  cancel ? ECANCELED : 0);
}

TEST_P(io_servers, outlive_what_clients_do)
{
	auto lambda = [](io::socket from) { answer(std::move(from)); };

	for (const bool cancel : { false, true }) {
		attack(answer, cancel);
		attack(lambda, cancel);
		attack(
			[](const io::socket
				   &from) { /* the group has it */
					    io::reader in(from);

					    while (const auto line =
							   in.read_line())
						    from.send_all(
							    std::string(*line) +
							    "!\n");
			},
			cancel);
	}
}

/* An exception, and whether it says only that a connection has ended. */
const struct {
	const char *what;
	bool        dropped;
	void (*raise)();
} exceptions[] = {
	{ "reset", true,
	  [] {
		  sennit::detail::fail(sennit::detail::code_of(-ECONNRESET),
				       "");
	  } },
	{ "pipe", true,
	  [] { sennit::detail::fail(sennit::detail::code_of(-EPIPE), ""); } },
	{ "not connected", true,
	  [] {
		  sennit::detail::fail(sennit::detail::code_of(-ENOTCONN), "");
	  } },
	{ "the end in the middle", true,
	  [] { sennit::detail::fail(sennit::detail::code_of(-ENODATA), ""); } },
	{ "a long line", true,
	  [] {
		  sennit::detail::fail(sennit::detail::code_of(-EMSGSIZE), "");
	  } },
	{ "cancelled", true, [] { throw sennit::cancelled("one"); } },
	{ "timed out", true, [] { throw sennit::timed_out("one"); } },
	{ "other category", false,
	  [] {
		  throw std::system_error(ECONNRESET, std::iostream_category());
	  } },
	{ "no descriptors", false,
	  [] { sennit::detail::fail(sennit::detail::code_of(-EMFILE), ""); } },
	{ "memory", false, [] { throw std::bad_alloc(); } },
	{ "logic", false, [] { throw std::logic_error("mine"); } },
	{ "a number", false, [] { throw 7; } },
};

/* Whether wait() throws, and so the stop has heard of it. */
bool is_told(sennit::group &g)
{
	try {
		g.wait();
	} catch (...) {
		return true;
	}
	return false;
}

TEST_P(io_servers, an_exception_ends_its_connection_and_the_wait_tells)
{
	for (const auto &e : exceptions) {
		service server(answer);
		{
			client beside(server.l), bad(server.l);

			thrown = e.raise;
			EXPECT_EQ(beside.ask("first"), "first!");
			EXPECT_EQ(bad.ask("error"), "the end") << e.what;
			EXPECT_EQ(beside.ask("last"), "last!") << e.what;
		}
		server.stop(false);
		EXPECT_EQ(is_told(server.people), !e.dropped) << e.what;
	}
}

TEST_P(io_servers, a_drain_tells_of_an_exception)
{
	for (const bool in_time : { true, false }) {
		service server(answer);
		client  bad(server.l), silent(server.l);

		thrown = [] { throw std::logic_error("mine"); };
		EXPECT_EQ(silent.ask("first"), "first!");
		EXPECT_EQ(bad.ask("error"), "the end");
		server.stop(false);
		if (in_time)
			silent.s.close();
		EXPECT_THROW(static_cast<void>(server.people.drain_for(
				     in_time ? 60s : 0s)),
			     std::logic_error);
	}
}

/* What the handler owns lives as long as a connection needs it. */
TEST_P(io_servers, a_temporary_handler_lives_until_the_wait_returns)
{
	auto owned = std::make_shared<int>(1);

	const std::weak_ptr<int> seen = owned;

	service server([owned = std::move(owned)](io::socket from) {
		answer(std::move(from));
		EXPECT_EQ(*owned, 1);
	});
	{
		client c(server.l);

		EXPECT_EQ(c.ask("one"), "one!");
		server.stop(false);
		EXPECT_EQ(c.ask("two"), "two!");
	}
	EXPECT_FALSE(seen.expired());
	server.people.wait();
	EXPECT_TRUE(seen.expired());
}

TEST_P(io_servers, a_handler_of_a_listener_that_fails_is_destroyed)
{
	auto owned = std::make_shared<int>(1);

	const std::weak_ptr<int> seen = owned;

	sennit::group   people, door;
	std::error_code code;
	io::listener    l(::socket(AF_INET, SOCK_STREAM, 0)); /* not yet */

	l.accept_each(
		door, people, [owned = std::move(owned)](const io::socket &) {},
		code);
	EXPECT_EQ(code, std::errc::invalid_argument);
	EXPECT_TRUE(seen.expired());
	door.wait();
	people.wait();
}

/* As the sockets of the C calls are. */
TEST_P(io_servers, both_ends_send_small_pieces_at_once)
{
	const io::listener l = io::listen_at("127.0.0.1:0");
	const io::socket   ends[] = { io::connect(l.local_address(), 60s),
				      l.accept(60s) };

	for (const io::socket &end : ends) {
		int       on = 0;
		socklen_t size = sizeof(on);

		EXPECT_EQ(::getsockopt(end.native_handle(), IPPROTO_TCP,
				       TCP_NODELAY, &on, &size),
			  0);
		EXPECT_NE(on, 0);
	}
}

/* As a server does that ends all connections. */
TEST_P(io_servers, shutdown_after_a_reset_is_done)
{
	const io::listener l = io::listen_at("127.0.0.1:0");

	for (const int which : { SHUT_RD, SHUT_WR, SHUT_RDWR })
		for (const bool taken : { false, true }) {
			client           c(l);
			const io::socket from = l.accept(60s);
			std::error_code  code;
			char             byte;

			c.reset();
			EXPECT_NE(from.poll(POLLIN, 60s), 0);
			if (taken)
				from.read({ &byte, 1 }, code);
			from.shutdown(which);
			from.shutdown(which, code);
			EXPECT_FALSE(code);
		}
}

/* --- serve() -------------------------------------------------------------- */

/* Before there are threads. */
const bool blocked = (io::signal_set::block({ SIGUSR1 }), true);

/* A server that runs as a member, until an event or a signal. */
struct running {
	template <typename Serve>
	running(Serve serve, io::serve_options how)
	    : options(std::move(
		      how.stop(stop).stopping([this] { stopped.set(); })))
	{
		at = listening.local_address();
		g.spawn([this, serve]() mutable {
			try {
				result = io::serve(std::move(listening), serve,
						   options);
			} catch (...) {
				thrown = std::current_exception();
			}
			ended.set();
		});
	}

	io::listener       listening = io::listen_at("127.0.0.1:0");
	io::address        at;
	sennit::event      stop, stopped, ended;
	io::serve_options  options;
	bool               result = false;
	std::exception_ptr thrown;
	sennit::group      g;
};

/* What clients of `running` do. */
struct caller {
	explicit caller(const running &r) : s(io::connect(r.at, 60s))
	{
	}
	std::string ask(const std::string &text)
	{
		s.send_all(text + "\n", 60s);
		return std::string(in.read_line(60s).value_or("the end"));
	}

	io::socket s;
	io::reader in{ s };
};

TEST_P(io_servers, serve_lets_connections_end_after_an_event)
{
	running r(answer, io::serve_options().patience(24h));
	{
		caller c(r);

		EXPECT_EQ(c.ask("one"), "one!");
		r.stop.set();
		r.stopped.wait();
		EXPECT_EQ(c.ask("two"), "two!");
		EXPECT_FALSE(r.ended.is_set());
	}
	r.g.wait();
	EXPECT_TRUE(r.result);
	EXPECT_FALSE(r.thrown);
}

TEST_P(io_servers, serve_stops_at_a_signal_and_sooner_at_one_more)
{
	running r(answer,
		  io::serve_options().signals({ SIGUSR1 }).patience(24h));
	caller  c(r);

	EXPECT_EQ(c.ask("one"), "one!");
	::kill(::getpid(), SIGUSR1);
	r.stopped.wait();
	EXPECT_EQ(c.ask("two"), "two!");
	::kill(::getpid(), SIGUSR1);
	EXPECT_EQ(c.in.read_line(60s), std::nullopt);
	r.g.wait();
	EXPECT_FALSE(r.result);
	EXPECT_FALSE(r.thrown);
}

TEST_P(io_servers, serve_cancels_connections_after_its_patience)
{
	running r(answer, io::serve_options().patience(1ms));
	caller  c(r);

	EXPECT_EQ(c.ask("one"), "one!");
	r.stop.set();
	EXPECT_EQ(c.in.read_line(60s), std::nullopt);
	r.g.wait();
	EXPECT_FALSE(r.result);
	EXPECT_FALSE(r.thrown);
}

TEST_P(io_servers, serve_throws_if_its_group_is_cancelled)
{
	running r(answer, io::serve_options().patience(24h));
	caller  c(r);

	EXPECT_EQ(c.ask("one"), "one!");
	r.g.cancel();
	EXPECT_EQ(c.in.read_line(60s), std::nullopt);
	static_cast<void>(r.g.wait(std::nothrow));
	EXPECT_THROW(std::rethrow_exception(r.thrown), sennit::cancelled);
}

TEST_P(io_servers, serve_rethrows_what_is_no_end_of_a_connection)
{
	for (const auto &e : exceptions) {
		running r(answer, io::serve_options().patience(24h));
		{
			caller beside(r), bad(r);

			thrown = e.raise;
			EXPECT_EQ(beside.ask("first"), "first!");
			EXPECT_EQ(bad.ask("error"), "the end") << e.what;
			EXPECT_EQ(beside.ask("last"), "last!") << e.what;
		}
		r.stop.set();
		r.g.wait();
		EXPECT_EQ(!r.thrown, e.dropped) << e.what;
		EXPECT_EQ(r.result, e.dropped) << e.what;
	}
}

TEST_P(io_servers, serve_rethrows_what_its_function_throws)
{
	sennit::event stop;

	stop.set();
	EXPECT_THROW(io::serve(io::listen_at("127.0.0.1:0"), answer,
			       io::serve_options().stop(stop).stopping(
				       [] { throw std::logic_error("mine"); })),
		     std::logic_error);
}

TEST_P(io_servers, serve_tells_why_it_cannot_serve)
{
	io::listener l(::socket(AF_INET, SOCK_STREAM, 0)); /* not yet */

	try {
		io::serve(std::move(l), answer);
		ADD_FAILURE() << "it has served";
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code(), std::errc::invalid_argument);
	}
	EXPECT_FALSE(l);
	EXPECT_THROW(io::serve(io::listen_at("127.0.0.1:0"), answer,
			       io::serve_options().signals({ SIGWINCH })),
		     std::system_error);
}

TEST_P(io_servers, a_shared_buffer_is_one_copy)
{
	std::string             text = "many";
	const io::shared_buffer a(text), b = a, same(std::string("many"));
	io::shared_buffer       c = b, empty;

	text = "none";
	EXPECT_EQ(std::string_view(a.data(), a.size()), "many");
	EXPECT_EQ(a.data(), b.data());
	EXPECT_EQ(a, b);
	EXPECT_NE(a, same);
	empty = std::move(c);
	EXPECT_EQ(empty.data(), a.data());
	EXPECT_EQ(c.data(), nullptr);
	EXPECT_EQ(c.size(), 0u);
}

TEST_P(io_servers, a_shared_buffer_is_sent_and_passed_on)
{
	sennit::channel<io::shared_buffer> out(2);
	running                            r(
                [&](const io::socket &to) {
                        to.send_all(out.receive().value());
                },
                io::serve_options().patience(24h));
	const io::shared_buffer line(std::string("one\n"));

	for (int i = 0; i < 2; i++)
		out.send(line);
	for (int i = 0; i < 2; i++) {
		caller c(r);

		EXPECT_EQ(c.in.read_line(60s), "one");
	}
	r.stop.set();
	r.g.wait();
	EXPECT_TRUE(r.result);
}

} // namespace
