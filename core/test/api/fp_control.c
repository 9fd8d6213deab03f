/* SPDX-License-Identifier: Apache-2.0 */
/* fp_control.c - a task's changes of the floating-point control affect no other
 * task. */
#include "testing/with_workers.h"

#include <fenv.h>

#ifdef SENNIT_NO_FP_CONTROL

SKIP_ALL("built without SENNIT_FP_CONTROL");

#else

static const int roundings[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
				 FE_TOWARDZERO };

/* Both control words of x86 must agree, and arithmetic must follow them. */
static bool rounds(int mode)
{
	volatile float       one = 1.0f, minus_one = -1.0f, three = 3.0f;
	volatile long double lone = 1.0L, minus_lone = -1.0L, lthree = 3.0L;
	volatile float       up = one / three, down = minus_one / three;
	volatile long double lup = lone / lthree, ldown = minus_lone / lthree;
	const int            sign = (up > -down) - (up < -down);
	const int            lsign = (lup > -ldown) - (lup < -ldown);

	if (fegetround() != mode || sign != lsign)
		return false;
	if (mode == FE_UPWARD)
		return sign > 0;
	return mode == FE_DOWNWARD ? sign < 0 : sign == 0;
}

/* Flush denormal results to zero. */
#if defined(__x86_64__)
static void flush_to_zero(void)
{
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
}
#elif defined(__aarch64__)
static void flush_to_zero(void)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	__asm__ volatile("msr fpcr, %0" : : "r"(fpcr | (UINT64_C(1) << 24)));
}
#endif

struct calm {
	sennit_wait_group done;
	sennit_wait_group met;
	int               expected;
};

static void expect_nearest(void *argument)
{
	EXPECT(rounds(FE_TONEAREST));
	sennit_wait_group_done(argument);
}

static void leave_rounding_changed(void *argument)
{
	EXPECT(rounds(FE_TONEAREST));
	fesetround(FE_UPWARD);
	sennit_wait_group_done(argument);
}

TEST_WITH_WORKERS(a_later_task_does_not_see_it)
{
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;

	sennit_wait_group_init(&done, 200);
	for (unsigned i = 0; i < 100; i++) {
		must_schedule(leave_rounding_changed, &done);
		must_schedule(expect_nearest, &done);
	}
	sennit_wait_group_wait(&done);
	assert_true(rounds(FE_TONEAREST));
}

static void keep_own_rounding(void *argument)
{
	struct calm *c = argument;
	const int    mine = c->expected;

	EXPECT(rounds(FE_TONEAREST));
	fesetround(mine);
	sennit_wait_group_done(&c->met);
	sennit_wait_group_wait(&c->met);
	EXPECT(rounds(mine));
	for (unsigned i = 0; i < 20; i++) {
		sennit_yield();
		EXPECT(rounds(mine));
	}
	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(rounds(mine));
	sennit_wait_group_done(&c->done);
}

TEST_WITH_WORKERS(it_holds_across_waits_and_reaches_no_other_fiber)
{
	struct calm calms[4];
	unsigned    i, k;

	for (k = 0; k < 4; k++) {
		sennit_wait_group_init(&calms[k].done, 10);
		sennit_wait_group_init(&calms[k].met, 10);
		calms[k].expected = roundings[k];
	}
	for (i = 0; i < 10; i++)
		for (k = 0; k < 4; k++)
			must_schedule(keep_own_rounding, &calms[k]);
	for (k = 0; k < 4; k++)
		sennit_wait_group_wait(&calms[k].done);
	assert_true(rounds(FE_TONEAREST));
}

TEST_WITH_WORKERS(a_bound_thread_keeps_its_own)
{
	sennit_wait_group done;

	fesetround(FE_DOWNWARD);
	sennit_wait_group_init(&done, 20);
	for (unsigned i = 0; i < 10; i++) {
		must_schedule_here(leave_rounding_changed, &done);
		must_schedule_here(expect_nearest, &done);
	}
	sennit_wait_group_wait(&done);
	EXPECT(rounds(FE_DOWNWARD));
	fesetround(FE_TONEAREST);
}

struct denormals {
	sennit_wait_group done;
	atomic_uint       seen;
};

#if defined(__x86_64__) || defined(__aarch64__)
static bool flushes_to_zero(void)
{
	volatile double tiny = 2.2250738585072014e-308;
	volatile double less = tiny / 4;

	return !(less > 0) && !(less < 0);
}

static void expect_flush(void *argument)
{
	struct denormals *d = argument;

	if (!flushes_to_zero())
		atomic_fetch_add(&d->seen, 1);
	sennit_yield();
	if (!flushes_to_zero())
		atomic_fetch_add(&d->seen, 1);
	sennit_sleep(SENNIT_MILLISECOND);
	if (!flushes_to_zero())
		atomic_fetch_add(&d->seen, 1);
	sennit_wait_group_done(&d->done);
}

static void set_flush_to_zero(void *context, uint32_t index)
{
	flush_to_zero();
}

/* Blocked tasks make the worker start others on fresh stacks. */
TEST_WITH_THREADS(what_thread_init_sets_holds_in_every_fiber)
{
	sennit_scheduler *s;
	struct denormals  d = { .seen = 0 };

	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .thread_init = set_flush_to_zero));
	sennit_wait_group_init(&d.done, 100);
	for (unsigned i = 0; i < 100; i++)
		must_schedule(expect_flush, &d);
	sennit_wait_group_wait(&d.done);
	assert_int_equal(atomic_load(&d.seen), 0);
	assert_false(flushes_to_zero());
	move_back(w, s);
}
#endif

static void expect_upward(void *argument)
{
	EXPECT(rounds(FE_UPWARD));
	sennit_wait_group_done(argument);
}

static void change_and_wait(void *argument)
{
	static sennit_wait_group done;
	const int                before = fegetround();
	sennit_task              t = { .run = expect_upward,
				       .argument = &done,
				       .flags = SENNIT_TASK_SAME_THREAD };

	sennit_wait_group_init(&done, 1);
	fesetround(FE_UPWARD);
	EXPECT(!sennit_schedule_task(&t));
	sennit_wait_group_wait(&done);
	fesetround(before);
	sennit_wait_group_done(argument);
}

/* This is not promised, but shows that the library does not touch the
 * control. */
TEST_WITH_WORKERS(shared_control_is_left_alone)
{
	static sennit_wait_group done;
	sennit_scheduler        *s;

	s = move_to(
		SENNIT_CONFIG(.workers = w->workers, .fp = SENNIT_FP_SHARED));
	sennit_wait_group_init(&done, 1);
	must_schedule(change_and_wait, &done);
	sennit_wait_group_wait(&done);
	assert_true(rounds(FE_TONEAREST));
	move_back(w, s);
}

#endif
