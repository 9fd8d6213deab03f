/* SPDX-License-Identifier: Apache-2.0 */
/* io_http.cpp - HTTP connections as classes. */
#include "world.hpp"

#include "sennit/cpp/http.hpp"
#include "sennit/cpp/io.hpp"

#include <sys/socket.h>

namespace io = sennit::io;

namespace
{

class http_world : public world
{
public:
	/* Run client(url) beside a server that answers by the function. */
	template <typename Answer, typename Client>
	void meet(Answer answer, Client client)
	{
		io::listener  l = io::listen_at("127.0.0.1:0");
		sennit::group connections, acceptors;

		l.accept_each(acceptors, connections, [&](io::socket from) {
			io::serve_http(std::move(from), answer);
		});
		client("http://" + l.local_address().text());
		acceptors.cancel();
		static_cast<void>(acceptors.wait(std::nothrow));
		connections.cancel();
		static_cast<void>(connections.wait(std::nothrow));
	}
};
INSTANTIATE_TEST_SUITE_P(workers, http_world, testing::Values(1, 4));

std::string body_of(io::http &h)
{
	std::string all;

	while (const auto part = h.read(300s))
		all += *part;
	return all;
}

void echo(io::http &peer, const io::http_head &request)
{
	if (request.method() == "GET" && request.target() == "/parts") {
		peer.begin_answer(200, std::nullopt, 300s);
		peer.write("one ", 300s);
		peer.write("", 300s);
		peer.write("two", 300s);
		return peer.end(300s);
	}
	if (request.target() != "/echo")
		return peer.answer(404);
	const std::string whole = body_of(peer);

	peer.add_field("X-Method", std::string(request.method()));
	peer.add_field("X-Host", std::string(request.host()));
	peer.answer(200, whole, 300s);
}

TEST_P(http_world, ask_and_answer)
{
	meet(echo, [](const std::string &url) {
		io::http_client c(url, 300s);

		for (int i = 0; i < 3; i++) {
			c.ask("PUT", "/echo", "hello", 300s);
			const auto answer = c.next(300s);

			ASSERT_TRUE(answer);
			EXPECT_EQ(answer->status(), 200u);
			EXPECT_EQ(answer->length(), std::uint64_t(5));
			EXPECT_EQ(answer->field("x-method"), "PUT");
			EXPECT_EQ("http://" +
					  std::string(*answer->field("X-Host")),
				  url);
			EXPECT_FALSE(answer->field("X-None"));
			EXPECT_EQ(body_of(c), "hello");
			c.ask("GET", "/none");
			EXPECT_EQ(c.next(300s)->status(), 404u);
		}
	});
}

TEST_P(http_world, bodies_in_parts)
{
	meet(echo, [](const std::string &url) {
		sennit_http_config config = io::http_config();

		config.name = "test";
		io::http_client c(url, config, 300s);

		c.ask("GET", "/parts", {}, 300s);
		auto answer = c.next(300s);
		EXPECT_FALSE(answer->length());
		EXPECT_EQ(body_of(c), "one two");
		for (const auto length : { std::optional<std::uint64_t>(),
					   std::optional<std::uint64_t>(6) }) {
			c.begin_ask("POST", "/echo", length, 300s);
			c.write("abc", 300s);
			c.write("def", 300s);
			c.end(300s);
			ASSERT_TRUE(c.next(300s));
			EXPECT_EQ(body_of(c), "abcdef");
		}
		c.begin_ask("POST", "/echo", 0, 300s);
		c.end(300s);
		ASSERT_TRUE(c.next(300s));
		EXPECT_EQ(body_of(c), "");
	});
}

/* What a function throws ends its connection, and no other. */
TEST_P(http_world, thrown)
{
	std::atomic<int> caught{ 0 };
	io::listener     l = io::listen_at("127.0.0.1:0");
	sennit::group    connections, acceptors;

	l.accept_each(acceptors, connections, [&](io::socket from) {
		try {
			io::serve_http(std::move(from),
				       [](io::http &, const io::http_head &) {
					       throw std::runtime_error("me");
				       });
		} catch (const std::runtime_error &e) {
			if (!std::strcmp(e.what(), "me"))
				caught++;
		}
	});
	for (int i = 1; i < 3; i++) {
		io::http_client c("http://" + l.local_address().text(), 300s);

		c.ask("GET", "/", {}, 300s);
		EXPECT_EQ(c.next(300s)->status(), 500u);
		EXPECT_FALSE(c.next(300s));
		while (caught < i)
			sennit::this_fiber::yield();
	}
	acceptors.cancel();
	static_cast<void>(acceptors.wait(std::nothrow));
	connections.wait();
}

TEST_P(http_world, errors)
{
	meet(echo, [](const std::string &url) {
		std::error_code code;
		io::http_client none("ftp://x", 300s, code);

		EXPECT_EQ(code, std::errc::invalid_argument);
		EXPECT_FALSE(none);
		EXPECT_THROW(io::http_client("http://127.0.0.1:1", 300s),
			     std::system_error);
		io::http_client c(url, 300s);
		EXPECT_TRUE(c);
		c.ask("G T", "/", {}, 300s, code);
		EXPECT_EQ(code, std::errc::invalid_argument);
		c.add_field("X", "a\nb");
		EXPECT_THROW(c.ask("GET", "/"), std::system_error);
		c.ask("GET", "/parts", {}, 300s);
		io::http_client moved(std::move(c));
		EXPECT_FALSE(c);
		EXPECT_EQ(moved.next(300s)->status(), 200u);
		EXPECT_EQ(moved.refused(), 0u);
	});
}

} // namespace
