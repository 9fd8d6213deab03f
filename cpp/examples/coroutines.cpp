/* SPDX-License-Identifier: Apache-2.0 */
/* coroutines.cpp - a server whose connections are coroutines, and 64 clients of
 * it in the same process. It answers each line with the sum of all numbers that
 * the connection has sent. Needs C++20.
 *
 *	coroutines [CONNECTIONS [LINES]]
 */
#include <sennit.hpp>
#include <sennit/cpp/io.hpp>

#include <iostream>
#include <list>

using namespace std::chrono_literals;
namespace io = sennit::io;

/* The coroutine owns its connection. */
static sennit::future<void> serve(io::socket s)
{
	io::reader in(s, 256);
	long       sum = 0;

	while (const auto line = co_await in.async_read_line(60s)) {
		sum += std::stol(std::string(*line));
		co_await s.async_send_all(std::to_string(sum) + "\n", 60s);
	}
}

/* A member of a group calls it: so it, and each connection, stays in the group,
 * and ends with it. */
static sennit::future<void> accept_all(const io::listener &l)
{
	for (;;)
		serve(co_await l.async_accept());
}

static sennit::future<long> sum_of(const io::address server, long lines)
{
	const io::socket s = io::connect(server, 60s);
	io::reader       in(s, 256);
	long             sum = 0;

	for (long i = 1; i <= lines; i++) {
		co_await s.async_send_all(std::to_string(i) + "\n", 60s);
		sum = std::stol(std::string(
			(co_await in.async_read_line(60s)).value()));
	}
	co_return sum;
}

static int exchange(long connections, long lines)
{
	io::listener                    l = io::listen_at("127.0.0.1:0");
	sennit::group                   server;
	std::list<sennit::future<long>> clients;
	long                            sum = 0;

	server.spawn([&] { accept_all(l); });
	for (long i = 0; i < connections; i++)
		clients.push_back(sum_of(l.local_address(), lines));
	for (auto &one : clients)
		sum += one.get();
	server.cancel();
	static_cast<void>(server.wait(std::nothrow));

	std::cout << connections << " connections, the sum of all is " << sum
		  << "\n";
	return sum != connections * lines * (lines + 1) / 2;
}

int main(int argc, char **argv)
{
	const long connections = argc > 1 ? std::stol(argv[1]) : 64;
	const long lines = argc > 2 ? std::stol(argv[2]) : 50;

	return sennit::run([=] { return exchange(connections, lines); });
}
