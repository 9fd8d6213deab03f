/* SPDX-License-Identifier: Apache-2.0 */
/* line_server.cpp - a server in C++: each connection is a member of a group and
 * has a deadline for each line; what fails there does not end the others. */
#include <sennit.hpp>
#include <sennit/cpp/io.hpp>

#include <cstdio>

using namespace std::chrono_literals;
namespace io = sennit::io;

static void serve(const io::socket &s, std::chrono::milliseconds patience)
{
	io::reader      in(s);
	std::error_code error;

	while (const auto line = in.read_line(patience, error))
		s.send_all("<" + std::string(*line) + ">\n", 10s);
	if (error)
		s.send_all("error: " + error.message() + "\n", 10s);
}

/* What the server answers. */
static std::string ask(const io::address &server, const std::string &lines)
{
	const io::socket s = io::connect(server, 10s);

	s.send_all(lines, 10s);
	if (!lines.empty())
		s.shutdown(SHUT_WR);
	return s.read_all(60s);
}

static void accept_two(const io::listener &l)
{
	sennit::group connections;

	/* The first connection may take a minute for a line, the other 10 ms.
	 */
	for (const auto patience : { 60000ms, 10ms })
		connections.spawn([s = l.accept(60s), patience] {
			try {
				serve(s, patience);
			} catch (const std::system_error &e) {
				std::printf("a connection: %s\n", e.what());
			}
		});
	connections.wait();
}

static int serve_and_ask()
{
	const io::listener l = io::listen_at("127.0.0.1:0");
	sennit::group      server;

	server.spawn([&] { accept_two(l); });
	std::printf("%s", ask(l.local_address(), "warp\nweft\n").c_str());
	std::printf("%s", ask(l.local_address(), "").c_str());
	server.wait();
	return 0;
}

int main()
{
	return sennit::run(serve_and_ask);
}
