/* SPDX-License-Identifier: Apache-2.0 */
/* handler.cpp - handler.c for a handler in C++, by accept_each(): the one of
 * cpp/docs/cpp.md, which lets exceptions pass. */
#define main example_main
#include EXAMPLE
#undef main

int main()
{
	io::signal_set::block({ SIGTERM });
	return sennit::run([] {
		io::signal_set     stop{ SIGTERM };
		const io::listener l = io::listen_at("127.0.0.1:0");
		sennit::group      people, door;

		l.accept_each(door, people,
			      [](const io::socket &s) { HANDLER(s, 60s); });
		stop.wait();
		door.cancel();
		static_cast<void>(door.wait(std::nothrow));
		static_cast<void>(people.drain_for(0s));
		return 0;
	});
}
