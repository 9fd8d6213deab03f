/* SPDX-License-Identifier: Apache-2.0 */
/* chat.cpp - a chat server in C++: chat ADDRESS. A client's first line is its
 * name; each further one goes to all. Who takes no lines holds up nobody, and
 * is cut off. At SIGTERM nobody new comes in, and all get what was said. */
#include <sennit.hpp>
#include <sennit/cpp/io.hpp>

#include <iostream>
#include <set>

using namespace std::chrono_literals;
namespace io = sennit::io;
using guard = std::lock_guard<sennit::mutex>;

static sennit::mutex             lock;
static std::set<struct client *> all; /* under the lock */

struct client {
	explicit client(const io::socket &from) : s(from)
	{
		const guard g(lock);
		all.insert(this);
	}
	~client()
	{
		const guard g(lock);
		all.erase(this);
	}

	const io::socket            &s;
	sennit::channel<std::string> out{ 256 };
};

static void tell_all(const std::string &text)
{
	const guard g(lock);
	for (client *c : all)
		if (c->out.try_send(text) == sennit::channel_status::timeout)
			c->s.shutdown(SHUT_RDWR); /* full: too slow */
}

static void serve(io::socket s)
try {
	client        me(s);
	io::reader    in(s, 256);
	sennit::group writer;

	s.send_all("hello\n", 10s);
	writer.spawn([&] {
		for (const std::string &text : me.out)
			s.send_all(text, 10s);
	});
	const std::string name(in.read_line(10s).value());
	while (const auto line = in.read_line())
		tell_all(name + ": " + std::string(*line) + "\n");
	me.out.close();
	writer.wait();
} catch (const std::exception &e) {
	std::cerr << "a client: " << e.what() << std::endl;
}

int main(int, char **argv)
{
	io::signal_set::block({ SIGTERM });
	return sennit::run([address = argv[1] ? argv[1] : ":7000"] {
		io::signal_set stop{ SIGTERM };
		io::listener   l = io::listen_at(address);
		sennit::group  people, door;

		l.accept_each(door, people, serve);
		stop.wait();
		door.cancel();
		static_cast<void>(door.wait(std::nothrow));
		std::unique_lock<sennit::mutex> held(lock);
		for (client *c : all)
			c->s.shutdown(SHUT_RD); /* as if they had left */
		held.unlock();
		return people.drain_for(60s) ? 0 : 1; /* some were stuck */
	});
}
