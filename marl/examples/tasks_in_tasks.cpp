/* SPDX-License-Identifier: Apache-2.0 */
/* tasks_in_tasks.cpp - tasks that schedule tasks and wait for them: a sum over
 * a tree, with a worker for each CPU and without workers.
 */
#include "marl/defer.h"
#include "marl/scheduler.h"
#include "marl/waitgroup.h"

#include <array>
#include <cstdint>
#include <cstdio>

/* The sum of the numbers from first to first + 4^depth - 1. */
static uint64_t sum(uint64_t first, unsigned depth)
{
	if (depth == 0)
		return first;

	std::array<uint64_t, 4> parts;
	marl::WaitGroup         left(parts.size());
	uint64_t                width = uint64_t(1) << 2 * (depth - 1);

	/* The array may be captured by reference, since this function waits. */
	for (size_t i = 0; i < parts.size(); ++i)
		marl::schedule([=, &parts] {
			defer(left.done());
			parts[i] = sum(first + i * width, depth - 1);
		});
	left.wait();
	return parts[0] + parts[1] + parts[2] + parts[3];
}

static bool run(const marl::Scheduler::Config &config)
{
	const uint64_t  count = uint64_t(1) << 2 * 6;
	marl::Scheduler scheduler(config);

	scheduler.bind();
	defer(scheduler.unbind());

	uint64_t result = sum(1, 6);

	std::printf("1 + 2 + ... + %llu = %llu, on %d worker threads\n",
		    static_cast<unsigned long long>(count),
		    static_cast<unsigned long long>(result),
		    config.workerThread.count);
	return result == count * (count + 1) / 2;
}

int main()
{
	bool right = run(marl::Scheduler::Config::allCores()) &&
		     run(marl::Scheduler::Config());

	return right ? 0 : 1;
}
