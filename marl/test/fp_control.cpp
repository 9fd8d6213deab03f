/* SPDX-License-Identifier: Apache-2.0 */
/* fp_control.cpp - a worker's initializer sets the floating-point control of
 * every fiber of that worker.
 */
#include "world.h"

#include "marl/event.h"
#include "marl/waitgroup.h"

#include <cfenv>
#include <cfloat>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace
{

using marl::Scheduler;

using FpControlAlone = Alone;

/* Whether denormal results become zero. */
static bool flushes()
{
	volatile float small = FLT_MIN;
	volatile float half = small / 2;

	return half == 0.0f;
}

static bool set_flush_to_zero()
{
#if defined(__SSE2__)
	_mm_setcsr(_mm_getcsr() | 0x8040);
	return true;
#elif defined(__aarch64__)
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	fpcr |= uint64_t(1) << 24;
	__asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
	return true;
#else
	return false;
#endif
}

class FpControlOf : public Alone, public testing::WithParamInterface<int>
{
};
INSTANTIATE_TEST_SUITE_P(Workers, FpControlOf, testing::Values(1, 2, 8));

TEST_P(FpControlOf, flush_to_zero_holds_in_every_fiber_of_the_worker)
{
	Scheduler       s(Scheduler::Config()
				  .setAllocator(&memory)
				  .setWorkerThreadCount(GetParam())
				  .setWorkerThreadInitializer(
                                    [](int) { set_flush_to_zero(); }));
	marl::Event     go(marl::Event::Mode::Manual);
	marl::WaitGroup left(100), begun(100);

	if (!set_flush_to_zero())
		GTEST_SKIP() << "not known how, on this processor";
	std::fesetenv(FE_DFL_ENV);
	ASSERT_FALSE(flushes());
	s.bind();
	for (int i = 0; i < 100; ++i)
		marl::schedule([=] {
			EXPECT_TRUE(flushes());
			begun.done();
			go.wait(); /* each on a stack of its own */
			EXPECT_TRUE(flushes());
			marl::schedule([=] {
				EXPECT_TRUE(flushes());
				left.done();
			});
		});
	begun.wait();
	go.signal();
	left.wait();
	EXPECT_FALSE(flushes());
	Scheduler::unbind();
}

TEST_P(FpControlOf, what_a_task_changes_is_its_own)
{
	Scheduler s(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			GetParam()));
	marl::WaitGroup left(100);

	s.bind();
	for (int i = 0; i < 100; ++i)
		marl::schedule([=] {
			EXPECT_EQ(std::fegetround(), FE_TONEAREST);
			std::fesetround(FE_UPWARD);
			sennit_yield();
			EXPECT_EQ(std::fegetround(), FE_UPWARD);
			left.done();
		});
	left.wait();
	Scheduler::unbind();
}

} // namespace
