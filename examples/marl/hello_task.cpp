/* SPDX-License-Identifier: Apache-2.0 */
/* hello_task.cpp - ten tasks say hello when they are let, and main waits. */
#include "marl/defer.h"
#include "marl/event.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <cstdio>

int main()
{
	marl::Scheduler scheduler(marl::Scheduler::Config::allCores());

	scheduler.bind();
	defer(scheduler.unbind());

	constexpr int tasks = 10;

	/* Captured by value: each task has a copy of the same two things. */
	marl::Event     go(marl::Event::Mode::Manual);
	marl::WaitGroup said(tasks);

	for (int i = 0; i < tasks; ++i)
		marl::schedule([=] {
			defer(said.done());
			go.wait(); /* its thread runs others meanwhile */
			std::printf("hello from task %d\n", i);
		});
	go.signal();
	said.wait();
	std::puts("all tasks have said hello");
}
