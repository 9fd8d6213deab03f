/* SPDX-License-Identifier: Apache-2.0 */
/* race.cpp - runners line up, start together, and are listed in the order in
 * which they arrive. There are fewer threads than runners: a runner that waits
 * at the line blocks no thread. */
#include "marl/event.h"
#include "marl/mutex.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <cstdio>
#include <vector>

namespace
{

/* Written by the task that holds the pen. */
struct list {
	marl::mutex      pen;
	std::vector<int> names;
};

void race(int runners)
{
	list            arrived;
	marl::Event     pistol(marl::Event::Mode::Manual);
	marl::WaitGroup at_line(static_cast<unsigned>(runners));
	marl::WaitGroup running(static_cast<unsigned>(runners));

	/* An Event and a WaitGroup are captured by value: copies share one. */
	for (int name = 1; name <= runners; name++)
		marl::schedule([pistol, at_line, running, name, &arrived] {
			at_line.done();
			pistol.wait();
			{
				marl::lock writing(arrived.pen);

				arrived.names.push_back(name);
			}
			running.done();
		});
	at_line.wait();
	pistol.signal();
	running.wait();
	for (int name : arrived.names)
		std::printf("%d\n", name);
}

} // namespace

int main()
{
	marl::Scheduler::Config config;

	config.setWorkerThreadCount(2);

	marl::Scheduler scheduler(config);

	scheduler.bind();
	race(8);
	scheduler.unbind();
}
