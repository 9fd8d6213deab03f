/* SPDX-License-Identifier: Apache-2.0 */
/* http_server.cpp - a server that says hello: http_server [ADDRESS]. */
#include <sennit.hpp>
#include <sennit/cpp/http.hpp>
#include <sennit/cpp/io.hpp>

namespace io = sennit::io;

static void answer(io::http &peer, const io::http_head &request)
{
	if (request.target() != "/")
		return peer.answer(404);
	peer.add_field("Content-Type", "text/plain");
	peer.answer(200, "hello\n");
}

int main(int argc, char **argv)
{
	return sennit::run([address = argc > 1 ? argv[1] : ":8080"] {
		io::listener  l = io::listen_at(address);
		sennit::group connections, acceptors;

		l.accept_each(acceptors, connections, [](io::socket s) {
			io::serve_http(std::move(s), answer);
		});
		acceptors.wait();
		return 0;
	});
}
