/* SPDX-License-Identifier: Apache-2.0 */
/* io_tls.cpp - TLS connections as classes. */
#include "world.hpp"

#include "sennit/cpp/io.hpp"
#include "sennit/cpp/tls.hpp"

#include "tls_pem.h"

#include <sys/socket.h>

namespace io = sennit::io;

namespace
{

class tls_ends : public world
{
public:
	static io::tls_config identity()
	{
		const tls_pem *pem = make_tls_pem();

		return io::tls_config()
			.certificate_text(pem->certificate)
			.key_text(pem->key);
	}
	static std::pair<io::socket, io::socket> sockets()
	{
		int fds[2];

		EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				       fds),
			  0);
		return { io::socket(fds[0]), io::socket(fds[1]) };
	}

	/* Run server(tls) as a task beside client(tls). */
	template <typename Server, typename Client>
	void meet(Server server, Client client)
	{
		auto [a, b] = sockets();
		sennit::group g;

		EXPECT_TRUE(g.spawn([&, s = std::move(a)]() mutable {
			io::tls t = io::accept_tls(at_server, std::move(s),
						   300s);

			server(t);
		}));
		EXPECT_TRUE(g.spawn([&, s = std::move(b)]() mutable {
			io::tls t = io::connect_tls(at_client, std::move(s),
						    "localhost", 300s);

			client(t);
		}));
		g.wait();
	}

	io::tls_context at_server{ identity().protocols("h2,http/1.1") };
	io::tls_context at_client{ io::tls_config()
					   .trusted_text(make_tls_pem()->issuer)
					   .protocols("http/1.1") };
};
INSTANTIATE_TEST_SUITE_P(workers, tls_ends, testing::Values(0, 1, 4));

/* The code of what f throws, and its text. */
template <typename F> std::pair<std::error_code, std::string> thrown_by(F f)
{
	try {
		f();
	} catch (const std::system_error &e) {
		return { e.code(), e.what() };
	}
	return {};
}

TEST_P(tls_ends, send_bytes_and_end)
{
	meet(
		[](io::tls &t) {
			char        bytes[100];
			std::size_t n;

			EXPECT_EQ(t.protocol(), "http/1.1");
			while ((n = t.read(bytes, 300s)))
				t.write_all({ bytes, n }, 300s);
			t.shutdown(300s);
		},
		[](io::tls &t) {
			io::tls_reader r(t);

			t.write_all("one\ntwo\n");
			EXPECT_EQ(r.read_line(300s), "one");
			EXPECT_EQ(t.write("three"), 5u);
			t.shutdown();
			EXPECT_EQ(r.read_line(300s), "two");
			EXPECT_EQ(r.read_line(300s), "three");
			EXPECT_EQ(r.read_line(300s), std::nullopt);
			EXPECT_EQ(t.error(), "");
		});
}

TEST_P(tls_ends, say_what_is_wrong)
{
	const auto [code, text] = thrown_by([] {
		io::tls_context c(io::tls_config().certificate_text("x"));
	});

	EXPECT_EQ(code, std::errc::invalid_argument);
	EXPECT_NE(text.find("tls_context: key: missing"), std::string::npos)
		<< text;
	EXPECT_EQ(thrown_by([&] {
			  at_server.reload(io::tls_config().protocols(","));
		  }).first,
		  std::errc::invalid_argument);

	std::error_code stored;
	io::tls_context none(io::tls_config().key_text("x"), stored);

	EXPECT_EQ(stored, std::errc::invalid_argument);
	EXPECT_FALSE(io::tls());
}

TEST_P(tls_ends, refuse_what_they_do_not_trust)
{
	auto [a, b] = sockets();
	io::tls_context strict; /* trusts what the system trusts */
	sennit::group   g;

	EXPECT_TRUE(g.spawn([&, s = std::move(a)]() mutable {
		std::error_code code;

		EXPECT_FALSE(
			io::accept_tls(at_server, std::move(s), 300s, code));
		EXPECT_EQ(code, std::errc::protocol_error);
	}));
	EXPECT_TRUE(g.spawn([&, s = std::move(b)]() mutable {
		const auto [code, text] = thrown_by([&] {
			io::connect_tls(strict, std::move(s), "localhost",
					300s);
		});

		EXPECT_EQ(code.value(), EKEYREJECTED);
		EXPECT_NE(text.find("certificate"), std::string::npos) << text;
	}));
	g.wait();
}

TEST_P(tls_ends, keep_their_bytes_at_a_deadline)
{
	sennit::event asked;

	meet(
		[&](io::tls &t) {
			asked.wait();
			t.write_all("late");
			t.shutdown();
		},
		[&](io::tls &t) {
			char            bytes[10];
			std::error_code code;

			EXPECT_EQ(t.read(bytes, 1ms, code), 0u);
			EXPECT_EQ(code, std::errc::timed_out);
			t.wait_readable(0s, code);
			EXPECT_EQ(code, std::errc::timed_out);
			asked.set();
			t.wait_readable(300s);
			EXPECT_EQ(t.read(bytes), 4u);
			EXPECT_EQ(t.read(bytes), 0u);
		});
}

/* What was received ahead is a case that can be done, and then what comes. */
TEST_P(tls_ends, are_cases_of_a_select)
{
	sennit::event asked;

	meet(
		[&](io::tls &t) {
			t.write_all("some");
			asked.wait();
			t.write_all(" more");
			t.shutdown();
		},
		[&](io::tls &t) {
			sennit::event never_set;
			std::string   got;
			bool          ended = false;
			const auto    take = [&] {
                                char              b;
                                std::error_code   code;
                                const std::size_t n = t.read({ &b, 1 }, 0s,
								code);

                                if (n)
                                        got.push_back(b);
                                ended = !n && !code;
                                if (got == "some")
                                        asked.set();
			};

			while (!ended)
				sennit::select(
					sennit::on_case(
						sennit_case_tls(
							t.native_handle()),
						take),
					sennit::on_event(never_set, [] {}));
			EXPECT_EQ(got, "some more");
			EXPECT_EQ(sennit::select_for(
					  1ms,
					  sennit::on_event(never_set, [] {})),
				  std::nullopt);
		});
}

TEST_P(tls_ends, can_be_moved)
{
	meet(
		[](io::tls &t) {
			io::tls other = std::move(t);

			EXPECT_FALSE(t);
			other.write_all("moved");
			other.shutdown();
			other = io::tls();
			EXPECT_FALSE(other);
		},
		[](io::tls &t) {
			char bytes[10];

			EXPECT_EQ(t.read(bytes, 300s), 5u);
			EXPECT_TRUE(t.lower());
		});
}

} // namespace
