/* SPDX-License-Identifier: Apache-2.0 */
/* chat.cpp - a chat server in C++: chat ADDRESS. A client's first line is its
 * name; others go to all. Slow clients are cut off. SIGTERM ends it. */
#include <sennit.hpp>
#include <sennit/cpp/io.hpp>

#include <set>

using namespace std::chrono_literals;
namespace io = sennit::io;
using guard = std::lock_guard<sennit::mutex>;

static sennit::mutex             lock;
static std::set<struct client *> all;              /* under the lock */
static bool                      stopping = false; /* under the lock */

struct client {
	explicit client(const io::socket &from) : s(from)
	{
		const guard g(lock);
		all.insert(this);
		if (stopping)
			s.shutdown(SHUT_RD);
	}
	~client()
	{
		const guard g(lock);
		all.erase(this);
	}
	const io::socket                  &s;
	sennit::channel<io::shared_buffer> out{ 256 };
};

static void tell_all(const std::string &text)
{
	const io::shared_buffer line(text);
	const guard             g(lock);
	for (client *c : all)
		if (c->out.send_for(line, 200ms) ==
		    sennit::channel_status::timeout)
			c->s.shutdown(SHUT_RDWR); /* too slow */
}

static void serve(io::socket s)
{
	client        me(s);
	io::reader    in(s, 256);
	sennit::group writer;

	s.send_all("hello\n", 10s);
	writer.spawn([&] {
		for (const io::shared_buffer &line : me.out)
			s.send_all(line, 10s);
	});
	const std::string name(in.read_line(10s).value_or(""));
	while (const auto line = in.read_line())
		tell_all(name + ": " + std::string(*line) + "\n");
	me.out.close();
	writer.wait();
}

static void stop()
{
	const guard g(lock);
	stopping = true;
	for (client *c : all)
		c->s.shutdown(SHUT_RD); /* as if they had left */
}

int main(int, char **argv)
{
	io::signal_set::block({ SIGTERM });
	return sennit::run([address = argv[1] ? argv[1] : ":7000"] {
		return !io::serve(io::listen_at(address), serve,
				  io::serve_options()
					  .signals({ SIGTERM })
					  .stopping(stop)
					  .patience(30s));
	});
}
