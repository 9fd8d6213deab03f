/* SPDX-License-Identifier: Apache-2.0 */
/* ndebug.cpp - misuse ends the process in release builds too, where marl
 * ignores it. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include "world.h"

#include "marl/debug.h"
#include "marl/waitgroup.h"

static_assert(!MARL_DEBUG_ENABLED, "marl's own checks are off");

using NdebugDeathTest = Alone;

TEST_F(NdebugDeathTest, a_wait_group_is_never_below_zero)
{
	marl::WaitGroup wg;

	EXPECT_DEATH(wg.done(), "done\\(\\) called too many times");
}

TEST_F(NdebugDeathTest, enqueue_without_a_bound_scheduler_loses_no_task)
{
	marl::Scheduler s(marl::Scheduler::Config().setAllocator(&memory));

	EXPECT_DEATH(s.enqueue(marl::Task([] {})),
		     "Did you forget to call marl::Scheduler::bind");
}

TEST_F(NdebugDeathTest, schedule_without_a_bound_scheduler_loses_no_task)
{
	EXPECT_DEATH(marl::schedule([] {}), "misuse.*no scheduler");
}
