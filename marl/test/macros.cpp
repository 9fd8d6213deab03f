/* SPDX-License-Identifier: Apache-2.0 */
/* macros.cpp - the headers that consist of macros, and other small headers. */
#define MARL_DEBUG_ENABLED   1
#define MARL_WARN_DEPRECATED 0

#include "world.h"

#include "marl/debug.h"
#include "marl/deprecated.h"
#include "marl/export.h"
#include "marl/sanitizers.h"
#include "marl/task.h"
#include "marl/thread_local.h"
#include "marl/trace.h"
#include "marl/tsa.h"

#include <thread>

using MacrosAlone = Alone;
using MacrosDeathTest = Alone;

TEST_F(MacrosDeathTest, a_failed_assertion_says_why)
{
	MARL_ASSERT(1 + 1 == 2, "never");
	EXPECT_DEATH(MARL_ASSERT(1 + 1 == 3, "%d and %s", 5, "six"),
		     "ASSERT: 5 and six");
	EXPECT_DEATH(MARL_FATAL("no arguments"), "no arguments");
	EXPECT_DEATH(MARL_UNREACHABLE(), "UNREACHABLE");
	EXPECT_DEATH(MARL_ASSERT_HAS_BOUND_SCHEDULER("this"), "this needs");
	EXPECT_DEATH(marl::fatal("bad %d", 7), "bad 7");
}

TEST_F(MacrosAlone, a_warning_goes_on)
{
	testing::internal::CaptureStderr();
	MARL_WARN("mind the %s", "gap");
	EXPECT_EQ(testing::internal::GetCapturedStderr(),
		  "WARNING: mind the gap\n");
}

TEST_F(MacrosAlone, a_bound_thread_has_a_scheduler)
{
	marl::Scheduler s(marl::Scheduler::Config().setAllocator(&memory));

	s.bind();
	MARL_ASSERT_HAS_BOUND_SCHEDULER("nothing");
	marl::Scheduler::unbind();
}

TEST_F(MacrosAlone, traces_are_nothing)
{
	MARL_NAME_THREAD("a %s", "name");
	MARL_SCOPED_EVENT("event %d", 1);
	MARL_SCOPED_ASYNC_EVENT(1, "event");
	MARL_BEGIN_ASYNC_EVENT(2, "event");
	MARL_END_ASYNC_EVENT(2, "event");
}

class MARL_EXPORT Annotated
{
public:
	void set(int to) EXCLUDES(lock_)
	{
		marl::lock held(lock_);

		put(to);
	}
	int get() EXCLUDES(lock_)
	{
		int value;

		lock_.lock();
		value = value_;
		lock_.unlock();
		return value;
	}
	MARL_DEPRECATED(1, "use set()") void old();

private:
	void put(int to) REQUIRES(lock_)
	{
		value_ = to;
	}

	marl::mutex lock_;
	int value_  GUARDED_BY(lock_) = 0;
};

TEST_F(MacrosAlone, annotations_do_not_get_in_the_way)
{
	Annotated a;

	a.set(5);
	EXPECT_EQ(a.get(), 5);
}

struct PerThread {
	MARL_DECLARE_THREAD_LOCAL(int, value);
};
MARL_INSTANTIATE_THREAD_LOCAL(int, PerThread::value, 7);

TEST_F(MacrosAlone, thread_locals_are_of_a_thread)
{
	PerThread::value = 8;
	std::thread([] { EXPECT_EQ(PerThread::value, 7); }).join();
	EXPECT_EQ(PerThread::value, 8);
}

TEST_F(MacrosAlone, one_sanitizer_at_most)
{
	int on = 0;

	MARL_ADDRESS_SANITIZER_ONLY(on++;)
	MARL_THREAD_SANITIZER_ONLY(on++;)
	MARL_MEMORY_SANITIZER_ONLY(on++;)
	EXPECT_EQ(on, MARL_ADDRESS_SANITIZER_ENABLED +
			      MARL_THREAD_SANITIZER_ENABLED +
			      MARL_MEMORY_SANITIZER_ENABLED);
	EXPECT_LE(on, 1);
}

/* --- task.h --------------------------------------------------------------- */

TEST_F(MacrosAlone, a_task_is_a_function_and_flags)
{
	int                        calls = 0;
	marl::Task::Function       function = [&] { calls++; };
	const marl::Task::Function same = function;
	marl::Task                 none;
	marl::Task here(function, marl::Task::Flags::SameThread);
	marl::Task copy(here);
	marl::Task moved(std::move(copy));

	EXPECT_FALSE(none);
	EXPECT_TRUE(here);
	EXPECT_TRUE(moved.is(marl::Task::Flags::SameThread));
	EXPECT_TRUE(none.is(marl::Task::Flags::None));
	EXPECT_FALSE(none.is(marl::Task::Flags::SameThread));
	here();
	moved();
	none = moved;
	EXPECT_TRUE(none.is(marl::Task::Flags::SameThread));
	none();
	none = same;
	EXPECT_FALSE(none.is(marl::Task::Flags::SameThread));
	none();
	moved = std::move(function);
	EXPECT_FALSE(moved.is(marl::Task::Flags::SameThread));
	moved();
	none = marl::Task();
	EXPECT_FALSE(none);
	EXPECT_EQ(calls, 5);
}
