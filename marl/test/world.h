/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - schedulers without workers and with one, two and eight, to which
 * the test's thread is bound; and what the tests of marl's headers share.
 *
 *	ON_WORKERS(Fixture)	after class Fixture : public World
 *
 * All memory of a world's allocator must be back when the world ends. Tasks
 * report failures by EXPECT_*, which is safe on any thread.
 */
#ifndef SN_TEST_COMPAT_WORLD_H
#define SN_TEST_COMPAT_WORLD_H

#include "marl/memory.h"
#include "marl/sanitizers.h"
#include "marl/scheduler.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <memory>

/* gcc 12's ThreadSanitizer crashes with more than about 8,000 fibers. */
template <typename T> inline T load(T n)
{
	return MARL_THREAD_SANITIZER_ENABLED && n > 400 ? n / 10 : n;
}

/* All memory must have been freed by the end. SIGALRM ends a test that
 * hangs. */
class Alone : public testing::Test
{
public:
	void SetUp() override
	{
		alarm(300);
	}
	void TearDown() override
	{
		EXPECT_EQ(memory.stats().numAllocations(), 0u);
		EXPECT_EQ(memory.stats().bytesAllocated(), 0u);
		alarm(0);
	}

	marl::TrackedAllocator memory{ marl::Allocator::Default };
};

class World : public testing::WithParamInterface<int>, public Alone
{
public:
	void SetUp() override
	{
		Alone::SetUp();
		scheduler.reset(new marl::Scheduler(
			marl::Scheduler::Config()
				.setAllocator(&memory)
				.setWorkerThreadCount(GetParam())
				.setFiberStackSize(64 * 1024)));
		scheduler->bind();
	}
	void TearDown() override
	{
		if (marl::Scheduler::get())
			marl::Scheduler::unbind();
		scheduler.reset();
		Alone::TearDown();
	}

	std::unique_ptr<marl::Scheduler> scheduler;
};

#define ON_WORKERS(fixture) \
	INSTANTIATE_TEST_SUITE_P(Workers, fixture, testing::Values(0, 1, 2, 8))

#endif
