/* SPDX-License-Identifier: Apache-2.0 */
/* crawl.cpp - visits all pages that a server's first page leads to, each once,
 * and prints their paths. Fails if not all were visited in time.
 *	crawl HOST:PORT [CONNECTIONS [SECONDS]] */
#include <sennit.hpp>
#include <sennit/cpp/io.hpp>

#include <iostream>
#include <set>

using namespace std::chrono_literals;
namespace io = sennit::io;

/* A connection for one request after the other. */
struct connection {
	const std::string         host;
	io::socket                s{};
	std::optional<io::reader> in{};

	/* The body of a page; "" if it is not found. */
	std::string get(const std::string &path)
	{
		const bool used = in.has_value();

		try {
			return exchange(path);
		} catch (const std::exception &) {
			close(); /* the server may have done so before */
			if (!used)
				throw;
		}
		return exchange(path);
	}

	std::string exchange(const std::string &path)
	{
		if (!in)
			in.emplace(s = io::connect_to(host, 10s), 16384);
		s.send_all("GET " + path + " HTTP/1.1\r\nHost: " + host +
				   "\r\n\r\n",
			   10s);

		const bool  found = line().substr(9, 3) == "200";
		std::size_t size = 0;
		bool        chunked = false, last = false;
		for (std::string h = line(); !h.empty(); h = line()) {
			if (h.rfind("Content-Length: ", 0) == 0)
				size = std::stoul(h.substr(16));
			chunked = chunked || h == "Transfer-Encoding: chunked";
			last = last || h == "Connection: close";
		}
		std::string body = bytes(size);
		while (chunked && (size = std::stoul(line(), nullptr, 16)))
			body += bytes(size) + line();
		if (chunked)
			line();
		if (last)
			close();
		return found ? body : "";
	}
	std::string line()
	{
		return std::string(in->read_line(10s).value());
	}
	std::string bytes(std::size_t size)
	{
		std::string all(size, ' ');

		if (size && !in->read_exactly(all, 10s))
			throw std::runtime_error("the body is cut off");
		return all;
	}
	void close()
	{
		in.reset();
		s = io::socket();
	}
};

using connections = sennit::pool<connection>;

static sennit::mutex         lock;
static std::set<std::string> seen; /* under the lock */

/* A page is a member of the group, and so is each link that is new. */
static void visit(sennit::group &pages, connections &pool, std::string path)
{
	const std::string body = pool.borrow()->get(path);

	for (std::size_t at = 0;
	     (at = body.find("href=\"/", at)) != body.npos;) {
		at += 6;
		path = body.substr(at, body.find_first_of("\"#", at) - at);
		const std::lock_guard<sennit::mutex> guard(lock);
		if (seen.insert(path).second)
			pages.spawn([&, path] { visit(pages, pool, path); });
	}
}

int main(int argc, char **argv)
try {
	const std::string host = argc > 1 ? argv[1] : "localhost:80";
	const std::size_t count = argc > 2 ? std::stoul(argv[2]) : 8;
	const auto        time = 1s * (argc > 3 ? std::stoi(argv[3]) : 60);

	sennit::run([&] {
		connections   pool(count, [&] { return connection{ host }; });
		sennit::group pages(std::chrono::steady_clock::now() + time);

		seen.insert("/");
		pages.spawn([&] { visit(pages, pool, "/"); });
		pages.wait();
	});
	for (const std::string &path : seen)
		std::cout << path << "\n";
} catch (const std::exception &e) {
	std::cerr << "crawl: " << e.what() << "\n";
	return 1;
}
