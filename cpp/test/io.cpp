/* SPDX-License-Identifier: Apache-2.0 */
/* io.cpp - descriptors, files, sockets, processes and signals as classes, with
 * each way of waiting (SENNIT_IO) and from each kind of caller. */
#include "world.hpp"

#include "sennit/cpp/io.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <numeric>

namespace io = sennit::io;

namespace
{

class ios : public world
{
public:
	/* A connection to this process's own listener. */
	static std::pair<io::socket, io::socket> connection()
	{
		int fds[2];

		EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				       fds),
			  0);
		return { io::socket(fds[0]), io::socket(fds[1]) };
	}
};
INSTANTIATE_TEST_SUITE_P(workers, ios, testing::Values(0, 1, 4));

/* The code of what f throws. */
template <typename F> std::error_code thrown_by(F f)
{
	try {
		f();
	} catch (const std::system_error &e) {
		return e.code();
	}
	return {};
}

/* How many fibers wait for input or output. */
unsigned io_waits(const sennit::scheduler &s)
{
	unsigned count = 0;

	sennit_report_visit(
		s.get(),
		[](void *context, const sennit_report_entry *e) {
			if (e->state == SENNIT_REPORT_BLOCKED &&
			    e->waits_for == SENNIT_WAITS_FOR_IO)
				++*static_cast<unsigned *>(context);
		},
		&count);
	return count;
}

io::listener listen_somewhere()
{
	return io::listen_at("127.0.0.1:0");
}

/* Runs f as a member of a group that is cancelled or whose deadline passes. */
template <typename F> void in_ended_group(bool cancelled, F f)
{
	if (cancelled) {
		sennit::group g;

		g.spawn([&] {
			g.cancel();
			f();
		});
		static_cast<void>(g.wait(std::nothrow));
	} else {
		sennit::group g(std::chrono::steady_clock::now());

		g.spawn(f);
		static_cast<void>(g.wait(std::nothrow));
	}
}

TEST(views, use_a_descriptor_and_never_close_it)
{
	auto [a, b] = ios::connection();
	char text[3];

	{
		io::view<io::socket>       first(a.native_handle());
		const io::view<io::socket> second = b, copy(second);

		first->send_all("abc");
		EXPECT_TRUE(copy->read_exactly(text));
		EXPECT_EQ(std::string_view(text, 3), "abc");
		first = copy;
		EXPECT_EQ(first->native_handle(), b.native_handle());
	}
	a.send_all("def");
	EXPECT_TRUE(b.read_exactly(text));
	EXPECT_EQ(std::string_view(text, 3), "def");
	static_assert(
		!std::is_constructible_v<io::view<io::socket>, io::socket>);
}

TEST(sockets, have_options_by_name)
{
	const io::listener l = listen_somewhere();
	const io::socket   s = io::connect_to(l.local_address().text());
	std::error_code    error;
	auto [pair, other] = ios::connection();

	EXPECT_EQ(l.option(SENNIT_SOCKET_NO_DELAY), 1);
	EXPECT_EQ(s.option(SENNIT_SOCKET_NO_DELAY), 1);
	s.set_option(SENNIT_SOCKET_NO_DELAY, 0);
	EXPECT_EQ(s.option(SENNIT_SOCKET_NO_DELAY), 0);
	l.set_option(SENNIT_SOCKET_NO_DELAY, 0);
	EXPECT_EQ(l.accept().option(SENNIT_SOCKET_NO_DELAY), 1);
	EXPECT_EQ(thrown_by([&p = pair] {
			  p.set_option(SENNIT_SOCKET_NO_DELAY, 1);
		  }),
		  std::errc::operation_not_supported);
	pair.set_option(SENNIT_SOCKET_NO_DELAY, 1, error);
	EXPECT_EQ(error, std::errc::operation_not_supported);
}

TEST(buffers, are_made_from_all_that_holds_bytes)
{
	char                     chars[7] = "abc";
	int                      numbers[3] = {};
	std::string              text(5, 'x');
	std::vector<std::byte>   bytes(9);
	std::array<short, 4>     shorts{};
	const std::array<int, 2> fixed{};
	const auto to = [](io::mutable_buffer b) { return b.size(); };
	const auto from = [](io::const_buffer b) { return b.size(); };

	EXPECT_EQ(to(chars), 7u);
	EXPECT_EQ(to(numbers), 12u);
	EXPECT_EQ(to(text), 5u);
	EXPECT_EQ(to(bytes), 9u);
	EXPECT_EQ(to(shorts), 8u);
	EXPECT_EQ(to({ chars, 2 }), 2u);
	EXPECT_EQ(from("text"), 4u);
	EXPECT_EQ(from({ chars, 7 }), 7u);
	EXPECT_EQ(from(text), 5u);
	EXPECT_EQ(from(std::string_view("ab")), 2u);
	EXPECT_EQ(from(fixed), 8u);
	EXPECT_EQ(from(bytes), 9u);
	EXPECT_FALSE((std::is_convertible_v<const std::string &,
					    io::mutable_buffer>));
	EXPECT_FALSE((std::is_convertible_v<std::vector<std::string> &,
					    io::const_buffer>));
}

TEST_P(ios, lines_go_through_a_connection)
{
	const io::listener l = listen_somewhere();

	in_each_place([&] {
		const io::socket c = io::connect_to(l.local_address().text());
		const io::socket there = l.accept(60s);
		io::reader       r(there);

		EXPECT_EQ(c.peer_address().text(), l.local_address().text());
		EXPECT_EQ(c.local_address().text(),
			  there.peer_address().text());
		c.send_all("one\ntwo\r\n\nlast");
		c.shutdown(SHUT_WR);
		EXPECT_EQ(r.read_line(), "one");
		EXPECT_EQ(r.read_line(60s), "two");
		EXPECT_EQ(r.read_line(), "");
		EXPECT_EQ(r.read_line(), "last");
		EXPECT_EQ(r.read_line(), std::nullopt);
	});
}

TEST_P(ios, readers_take_pieces)
{
	const auto [a, b] = connection();
	io::reader r(b, 16);
	char       four[4];

	a.send_all("key:value and more than sixteen");
	EXPECT_EQ(r.read_delimited(':'), "key:");
	EXPECT_EQ(r.peek(5)->substr(0, 5), "value");
	r.skip(6);
	EXPECT_TRUE(r.read_exactly(four));
	EXPECT_EQ(std::string(four, 4), "and ");
	EXPECT_EQ(thrown_by([&] { static_cast<void>(r.read_line()); }),
		  std::errc::message_size);
	EXPECT_GT(r.read(four), 0u);
}

TEST_P(ios, what_is_read_exactly_is_whole)
{
	in_each_place([] {
		auto [a, b] = connection();
		char            six[6];
		std::error_code code;

		a.send_all("sixsixthree", 60s);
		EXPECT_TRUE(b.read_exactly(six));
		EXPECT_TRUE(b.read_exactly(io::mutable_buffer(six, 2), code));
		EXPECT_FALSE(code);
		a.close();
		EXPECT_EQ(thrown_by([&, &b = b] {
				  static_cast<void>(b.read_exactly(six));
			  }).value(),
			  ENODATA);
		EXPECT_FALSE(b.read_exactly(six));
		EXPECT_FALSE(b.read_exactly(six, code));
		EXPECT_FALSE(code);
	});
}

TEST_P(ios, large_data_arrives)
{
	auto [a, b] = connection();
	std::vector<std::uint32_t> sent(2 << 20), got(sent.size());
	sennit::group              g;

	std::iota(sent.begin(), sent.end(), 7u);
	g.spawn([&, &a = a] {
		a.send_all(sent, 300s);
		a.close();
	});
	EXPECT_TRUE(b.read_exactly(got, 300s));
	EXPECT_EQ(b.read_all(), "");
	g.wait();
	EXPECT_EQ(sent, got);
}

TEST_P(ios, a_thousand_connections_are_served)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	const unsigned count = files.rlim_cur > 2100 ? 1000 : 100;

	const io::listener    l = listen_somewhere();
	sennit::group         server, clients;
	std::atomic<unsigned> answered{ 0 };

	server.spawn([&] {
		for (;;)
			server.spawn([s = l.accept()] {
				io::reader r(s, 64);

				while (auto line = r.read_line())
					s.send_all(std::string(*line) + "!\n");
			});
	});
	sennit::event all_there;
	for (unsigned i = 0; i < count; i++)
		clients.spawn([&, i] {
			const io::socket  c = io::connect(l.local_address());
			io::reader        r(c, 64);
			const std::string name = std::to_string(i);

			c.send_all(name + "\n");
			EXPECT_EQ(r.read_line(300s), name + "!");
			if (++answered == count)
				all_there.set();
			all_there.wait(); /* all are open at once */
		});
	clients.wait();
	EXPECT_EQ(answered, count);
	server.cancel();
	EXPECT_EQ(server.wait(std::nothrow), std::errc::operation_canceled);
}

TEST_P(ios, deadlines_are_durations_and_times)
{
	in_each_place([] {
		const auto [a, b] = connection();
		const io::listener l = listen_somewhere();
		io::reader         r(b);
		char               byte;
		std::error_code    code;
		const auto         read = [&, &b = b](auto... how) {
                        return thrown_by([&] { b.read({ &byte, 1 }, how...); });
		};

		EXPECT_EQ(read(0s), std::errc::timed_out);
		EXPECT_EQ(read(-1h), std::errc::timed_out);
		EXPECT_EQ(read(1ms), std::errc::timed_out);
		EXPECT_EQ(read(std::chrono::duration<double>(1e-3)),
			  std::errc::timed_out);
		EXPECT_EQ(read(std::chrono::steady_clock::now() + 1ms),
			  std::errc::timed_out);
		EXPECT_EQ(read(std::chrono::system_clock::now() + 1ms),
			  std::errc::timed_out);
		EXPECT_THROW(static_cast<void>(r.read_line(1ms)),
			     sennit::timed_out);
		EXPECT_THROW(l.accept(1ms), sennit::timed_out);
		EXPECT_THROW(b.poll(POLLIN, 1ms), sennit::timed_out);
		EXPECT_EQ(b.read({ &byte, 1 }, 1ms, code), 0u);
		EXPECT_EQ(code, std::errc::timed_out);
		EXPECT_EQ(b.read({ &byte, 1 }, code, 1ms), 0u); /* any order */
		EXPECT_EQ(code, std::errc::timed_out);
		EXPECT_FALSE(r.read_line(0s, code));
		EXPECT_EQ(code, std::errc::timed_out);
		EXPECT_FALSE(l.accept(0s, code));
		EXPECT_EQ(code, std::errc::timed_out);
		a.send_all("x");
		EXPECT_EQ(b.poll(POLLIN, 60s), POLLIN);
		EXPECT_EQ(b.read({ &byte, 1 }, sennit::never, code), 1u);
		EXPECT_FALSE(code);
	});
}

TEST_P(ios, a_group_ends_its_members_calls)
{
	for (const bool cancelled : { true, false })
		in_ended_group(cancelled, [&] {
			const auto [a, b] = connection();
			const io::listener l = listen_somewhere();
			io::reader         r(b);
			char               byte;
			std::error_code    code;
			const auto         expected =
                                cancelled ? std::errc::operation_canceled
						  : std::errc::timed_out;

			EXPECT_EQ(b.read({ &byte, 1 }, code), 0u);
			EXPECT_EQ(code, expected);
			EXPECT_FALSE(l.accept(1h, code));
			EXPECT_EQ(code, expected);
			EXPECT_FALSE(r.read_line(sennit::never, code));
			EXPECT_EQ(code, expected);
			if (cancelled)
				EXPECT_THROW(static_cast<void>(r.read_line()),
					     sennit::cancelled);
			else
				EXPECT_THROW(static_cast<void>(r.read_line()),
					     sennit::timed_out);
			a.send_all("no wait\n"); /* not ended */
			EXPECT_EQ(r.read_line(), "no wait");
		});
}

/* A request that has not reached the kernel ends like a later call (io.h). */
void expect_closed(const std::error_code &code)
{
	EXPECT_TRUE(code == std::errc::operation_canceled ||
		    code == std::errc::bad_file_descriptor)
		<< code.message();
}

TEST_P(ios, a_close_ends_calls_that_wait)
{
	auto [a, b] = connection();
	io::listener  l = listen_somewhere();
	sennit::group g;
	char          byte;

	g.spawn([&, &b = b] {
		expect_closed(thrown_by([&, &b = b] { b.read({ &byte, 1 }); }));
	});
	g.spawn([&] { expect_closed(thrown_by([&] { l.accept(); })); });
	while (io_waits(s) < 2)
		sennit::this_fiber::yield();
	b.close();
	l.close();
	EXPECT_FALSE(b);
	static_cast<void>(g.wait(std::nothrow));
	EXPECT_EQ(thrown_by([&, &b = b] {
			  b.read({ &byte, 1 });
		  }),
		  std::errc::bad_file_descriptor);
	EXPECT_EQ(thrown_by([&, &b = b] { b.close(); }),
		  std::errc::bad_file_descriptor);
	EXPECT_EQ(thrown_by([&] { l.accept(); }),
		  std::errc::bad_file_descriptor);
	static_cast<void>(a);
}

TEST_P(ios, a_peer_that_left_is_an_error)
{
	auto [a, b] = connection();
	std::error_code code;

	b.close();
	EXPECT_EQ(thrown_by([&, &a = a] { a.send_all("x"); }),
		  std::errc::broken_pipe);
	EXPECT_EQ(a.send("x", code), 0u);
	EXPECT_EQ(code, std::errc::broken_pipe);
	EXPECT_EQ(thrown_by([] { io::connect_to("127.0.0.1:1"); }),
		  std::errc::connection_refused);
	EXPECT_FALSE(io::connect_to("127.0.0.1:1", code));
	EXPECT_EQ(code, std::errc::connection_refused);
	EXPECT_FALSE(io::connect_host("127.0.0.1", "1", 60s, code));
	EXPECT_EQ(code, std::errc::connection_refused);
	EXPECT_FALSE(io::listen_at("no colon", code));
	EXPECT_TRUE(code);
}

TEST_P(ios, addresses_have_text)
{
	const std::string path = "/tmp/sennit-test-" +
				 std::to_string(::getpid());
	std::error_code code;

	in_each_place([&] {
		EXPECT_EQ(io::resolve("127.0.0.1", "80").at(0).text(),
			  "127.0.0.1:80");
		EXPECT_EQ(io::resolve("::1", "443", 60s).at(0).text(),
			  "[::1]:443");
		EXPECT_TRUE(io::resolve("", "nonsense/", 60s, code).empty());
		EXPECT_TRUE(code);
	});
	::unlink(path.c_str());
	const io::listener l = io::listen_at("unix:" + path);
	const io::socket   c = io::connect_to(l.local_address().text());
	EXPECT_EQ(l.local_address().text(), "unix:" + path);
	l.accept().send_all("by path");
	EXPECT_EQ(c.read_all(), "by path");
	::unlink(path.c_str());
}

/* An array that is not constant may be a text or bytes, and const alone would
 * decide how much is sent. */
static_assert(!std::is_convertible_v<char (&)[16], io::const_buffer>);
static_assert(std::is_convertible_v<char (&)[16], io::mutable_buffer>);
static_assert(std::is_convertible_v<unsigned char (&)[16], io::const_buffer>);

TEST_P(ios, texts_end_before_their_0_and_bytes_do_not)
{
	const char    text[16] = "one";
	const char    full[3] = { 'a', 'b', 'c' };
	const char   *pointer = text;
	char         *writable = const_cast<char *>(pointer);
	unsigned char bytes[16] = { 'x' };

	EXPECT_EQ(io::const_buffer("four").size(), 4u);
	EXPECT_EQ(io::const_buffer(text).size(), 3u);
	EXPECT_EQ(io::const_buffer(full).size(), 3u);
	EXPECT_EQ(io::const_buffer(pointer).size(), 3u);
	EXPECT_EQ(io::const_buffer(writable).size(), 3u);
	EXPECT_EQ(io::const_buffer(bytes).size(), 16u);
	EXPECT_EQ(io::const_buffer(std::string_view(text, 16)).size(), 16u);
	EXPECT_EQ(io::const_buffer(std::string("a\0b", 3)).size(), 3u);
}

TEST_P(ios, streams_lend_their_buffers)
{
	auto [a, b] = connection();
	io::stream      lent(b);
	std::error_code code;

	EXPECT_EQ(lent.next(1ms, code).size(), 0u);
	EXPECT_EQ(code, std::errc::timed_out);
	a.send_all("some");
	const io::mutable_buffer got = lent.next();
	EXPECT_EQ(std::string(got.data(), got.size()), "some");
	lent.give_back();
	a.close();
	EXPECT_EQ(lent.next().size(), 0u);
}

TEST_P(ios, files_are_read_and_written)
{
	const std::string path = "/tmp/sennit-test-" +
				 std::to_string(::getpid());

	in_each_place([&] {
		std::error_code code;
		std::string     four(4, ' ');
		io::file        f = io::file::open(
			       path, { O_RDWR | O_CREAT | O_TRUNC, 0600 });

		f.write_all("0123456789");
		EXPECT_EQ(f.write_at("ab", 2), 2u);
		EXPECT_EQ(f.read_at(four, 1, 60s), 4u);
		EXPECT_EQ(four, "1ab4");
		EXPECT_EQ(f.size(), 10u);
		f.resize(5);
		f.sync();
		f = io::file::open(path);
		EXPECT_EQ(f.read_all(), "01ab4");
		EXPECT_EQ(thrown_by([&] { f.write("x"); }),
			  std::errc::bad_file_descriptor);
		EXPECT_EQ(thrown_by([] { io::file::open("/nowhere/at"); }),
			  std::errc::no_such_file_or_directory);
		EXPECT_FALSE(io::file::open("/nowhere/at", O_RDONLY, code));
		EXPECT_EQ(code, std::errc::no_such_file_or_directory);
	});
	::unlink(path.c_str());
}

TEST_P(ios, children_run_with_pipes)
{
	in_each_place([] {
		io::pipe    to = io::pipe::open(), from = io::pipe::open();
		io::process child(io::command{
			"sh", "-c", "sort; echo $WORD; pwd >&2; exit 3" }
					  .in(to.in)
					  .out(from.out)
					  .err(nullptr)
					  .directory("/")
					  .with("WORD", "first")
					  .with("WORD", "then"));

		to.in.close();
		from.out.close();
		to.out.write_all("b\na\n");
		to.out.close();
		EXPECT_EQ(from.in.read_all(300s), "a\nb\nthen\n");
		EXPECT_EQ(child.wait().code(), 3);
		EXPECT_EQ(child.wait(0s).code(), 3); /* the same again */
		EXPECT_FALSE(child.wait().success());
		child.kill(SIGTERM); /* has ended: no effect */
	});
}

TEST_P(ios, children_end_with_their_objects)
{
	in_each_place([] {
		std::error_code code;
		pid_t           pid;

		{
			io::process child(io::command{ "sleep", "1000" });

			pid = child.id();
			EXPECT_THROW(child.wait(1ms), sennit::timed_out);
			child.wait(0s, code);
			EXPECT_EQ(code, std::errc::timed_out);
			io::process other(std::move(child));
			EXPECT_FALSE(child);
			EXPECT_EQ(other.id(), pid);
		}
		EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
		EXPECT_EQ(errno, ECHILD);

		io::process child(io::command{ "sleep", "1000" });
		child.kill(SIGTERM);
		EXPECT_EQ(child.wait().signal(), SIGTERM);
		EXPECT_EQ(child.wait().code(), -1);
		EXPECT_EQ(thrown_by([] {
				  io::process(io::command{ "/nowhere/at" });
			  }),
			  std::errc::no_such_file_or_directory);
		EXPECT_FALSE(io::process(io::command{ "/nowhere/at" }, code));
		EXPECT_EQ(code, std::errc::no_such_file_or_directory);
	});
}

/* Whether all that have the other end have ended. */
void expect_end(const io::descriptor &in)
{
	EXPECT_EQ(in.read_all(300s), "");
}

TEST_P(ios, groups_of_processes_end_with_their_wait)
{
	in_each_place([] {
		for (const bool session : { false, true }) {
			io::pipe    from = io::pipe::open();
			io::command c{ "sh", "-c",
				       "sleep 1000 & echo .; wait" };

			c.out(from.out);
			session ? c.session() : c.group();
			io::process child(c);
			char        byte;

			from.out.close();
			EXPECT_EQ(from.in.read({ &byte, 1 }, 300s), 1u);
			EXPECT_EQ(::getpgid(child.id()), child.id());
			EXPECT_EQ(::getsid(child.id()) == child.id(), session);
			EXPECT_THROW(child.wait_or_end(1s, 1ms),
				     sennit::timed_out);
			EXPECT_EQ(child.wait().signal(), SIGTERM);
			EXPECT_EQ(from.in.read({ &byte, 1 }, 300s), 1u);
			expect_end(from.in);
		}
	});
}

TEST_P(ios, a_process_that_is_destroyed_ends_its_group)
{
	in_each_place([] {
		io::pipe from = io::pipe::open();
		{
			io::process child(io::command{
				"sh", "-c", "sleep 1000 & echo .; wait" }
						  .out(from.out)
						  .group());
			char        byte[2];

			from.out.close();
			EXPECT_TRUE(from.in.read_exactly(byte, 300s));
		}
		expect_end(from.in);

		io::process quick(io::command{ "sh", "-c", "exit 3" }.group());
		EXPECT_EQ(quick.wait_or_end(0s).code(), 3);
		EXPECT_EQ(quick.wait_or_end(0s, 0s).code(), 3);
	});
}

/* A task that leaves does not leave its descriptors. */
TEST_P(ios, objects_close_what_they_owned)
{
	auto [a, b] = connection();
	char byte;

	b = io::socket();
	EXPECT_EQ(a.read({ &byte, 1 }), 0u);

	auto [c, d] = connection();
	a = std::move(c);
	io::socket &same = a;
	a = std::move(same);
	EXPECT_TRUE(a);
	EXPECT_FALSE(c);
	{
		const io::socket going(std::move(a));
	}
	EXPECT_EQ(d.read({ &byte, 1 }), 0u);
	const int fd = d.release();
	EXPECT_FALSE(d);
	EXPECT_EQ(::close(fd), 0);
}

/* One thread only, for what looks at the whole process. */
class io_alone : public alone
{
public:
	void SetUp() override
	{
		alone::SetUp();
		io::signal_set::block({ SIGUSR1, SIGUSR2 });
		s = sennit::scheduler(
			sennit::config().with_workers(SENNIT_WORKERS_NONE));
		bound.emplace(s);
	}

	sennit::scheduler              s;
	std::optional<sennit::binding> bound;
};

TEST_F(io_alone, signals_are_waited_for)
{
	io::signal_set  both{ SIGUSR1, SIGUSR2 };
	std::error_code code;

	EXPECT_EQ(both.wait(1ms, code), 0);
	EXPECT_EQ(code, std::errc::timed_out);
	::kill(::getpid(), SIGUSR2);
	EXPECT_EQ(both.wait(60s), SIGUSR2);
	EXPECT_EQ(thrown_by([] { io::signal_set unblocked{ SIGHUP }; }),
		  std::errc::invalid_argument);
}

TEST_F(io_alone, empty_objects_are_named)
{
	const auto empty = [](const char *call) {
		return std::string("sennit: misuse of sennit::io::") + call +
		       ": there is no descriptor";
	};
	io::socket   moved, gone(::dup(0));
	io::listener l;
	io::process  p;
	char         byte;

	moved = std::move(gone);
	EXPECT_DEATH(gone.read({ &byte, 1 }), empty("descriptor::read"));
	EXPECT_DEATH(gone.send("x"), empty("socket::send"));
	EXPECT_DEATH(gone.send_all("x"), empty("socket::send_all"));
	EXPECT_DEATH(gone.shutdown(SHUT_RDWR), empty("socket::shutdown"));
	EXPECT_DEATH(gone.poll(POLLIN), empty("descriptor::poll"));
	EXPECT_DEATH(gone.close(), empty("close"));
	EXPECT_DEATH(io::reader{ gone }, empty("reader"));
	EXPECT_DEATH(io::stream{ gone }, empty("stream"));
	EXPECT_DEATH(l.accept(), empty("listener::accept"));
	EXPECT_DEATH(io::file().size(), empty("file::size"));
	EXPECT_DEATH(p.wait(), "misuse of sennit::io::process::wait");
	EXPECT_DEATH(p.kill(1), "misuse of sennit::io::process::kill");
}

} // namespace
