/* SPDX-License-Identifier: Apache-2.0 */
/* asio.cpp - the server of io/bench/server.h on Boost.Asio: an io_context, a
 * thread and a listener per worker, callbacks.
 */
#include <utility>

#include <boost/asio.hpp>

#include <memory>
#include <thread>

#include "server.h"

namespace
{

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

class connection : public std::enable_shared_from_this<connection>
{
public:
	explicit connection(tcp::socket s) : socket(std::move(s))
	{
		socket.set_option(tcp::no_delay(true));
	}

	void receive()
	{
		auto self = shared_from_this();

		socket.async_read_some(
			asio::buffer(bytes + have, sizeof(bytes) - have),
			[self](error_code e, size_t n) {
				if (!e)
					self->serve(n);
			});
	}

private:
	tcp::socket socket;
	size_t      have = 0;
	char        bytes[REQUEST];

	void serve(size_t n)
	{
		have += n;
		while (size_t used = server_request(bytes, have)) {
			error_code e;

			have -= used;
			memmove(bytes, bytes + used, have);
			asio::write(socket, asio::buffer(ANSWER, ANSWER_SIZE),
				    e);
		}
		receive();
	}
};

void accept_next(tcp::acceptor &a)
{
	a.async_accept([&a](error_code e, tcp::socket s) {
		if (!e)
			std::make_shared<connection>(std::move(s))->receive();
		accept_next(a);
	});
}

void run(int fd)
{
	asio::io_context io(1);
	tcp::acceptor    a(io, tcp::v4(), fd);

	accept_next(a);
	io.run();
}

} // namespace

int main(int argc, char **argv)
{
	unsigned workers = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	uint16_t port = 0;

	server_begin();
	for (unsigned i = 0; i < workers; i++)
		std::thread(run, server_listen(&port)).detach();
	server_print_port(port);
	pause();
	return 0;
}
