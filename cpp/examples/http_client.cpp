/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.cpp - prints what a server says: http_client URL TARGET. */
#include <sennit.hpp>
#include <sennit/cpp/http.hpp>
#include <iostream>

using namespace std::chrono_literals;

int main(int, char **argv)
try {
	sennit::io::http_client server(argv[1], 30s);

	server.ask("GET", argv[2], {}, 30s);
	if (server.next(30s))
		while (const auto part = server.read(30s))
			std::cout << *part;
} catch (const std::exception &e) {
	std::cerr << e.what() << std::endl;
	return 1;
}
