/* SPDX-License-Identifier: Apache-2.0 */
/* switch_x87.c - the x87 control word belongs to the stack, as MXCSR does, and
 * the exception flags of one stack do not trap on another. */
#if !defined(__x86_64__) || defined(SENNIT_NO_FP_CONTROL)

#include "testing/test.h"

SKIP_ALL("no x87, or its control is not kept");

#else

#include "switch.h"

#include <fenv.h>

static int restore_fp(void **state)
{
	return fesetenv(FE_DFL_ENV);
}

#define TEST_FP(f) TEST_ON_EACH_BETWEEN(f, restore_fp, restore_fp)

/* Only the x87 has a precision setting, so MXCSR is equal on both stacks. */
static void set_x87_control(uint16_t control)
{
	__asm__ volatile("fldcw %0" : : "m"(control));
}

static uint16_t x87_control(void)
{
	uint16_t control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	return control;
}

static arch_stack compute_in_double_precision(void *argument)
{
	struct pair *p = argument;
	uint16_t    *seen = p->data;

	set_x87_control(0x27f);
	to_main(p);
	*seen = x87_control();
	return leave_for_main(p);
}

static arch_stack see_x87_control(void *argument)
{
	struct pair *p = argument;

	*(uint16_t *)p->data = x87_control();
	return p->main;
}

TEST_FP(a_start_that_differs_in_x87_alone_loads)
{
	uint64_t    control = arch_fp_control();
	uint16_t    seen = 0;
	struct pair p;

	set_x87_control(0x27f);
	start_other_with(&p, m, see_x87_control, &seen, control);
	assert_int_equal(seen, 0x37f);
	assert_int_equal(x87_control(), 0x27f);
}

TEST_FP(x87_control_is_each_stacks_own)
{
	uint16_t    seen = 0;
	struct pair p;

	start_other(&p, m, compute_in_double_precision, &seen);
	assert_int_equal(x87_control(), 0x37f);
	to_other(&p);
	assert_int_equal(x87_control(), 0x37f);
	assert_int_equal(seen, 0x27f);
}

/* The exceptions that trap, FE_*, in x87 and SSE instructions. */
static int trapped(void)
{
	return ~x87_control() & FE_ALL_EXCEPT;
}

static void set_trapped(int exceptions)
{
	const uint32_t all = FE_ALL_EXCEPT;
	const uint32_t masked = all & ~(uint32_t)exceptions;
	uint32_t       mxcsr;

	set_x87_control((uint16_t)((x87_control() & ~all) | masked));
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	mxcsr = (mxcsr & ~(all << 7)) | masked << 7;
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}

/* Unmask the division-by-zero trap; and divide by zero, which is safe where it
 * is masked. */
static void divide_by_zero(void)
{
	volatile long double zero = 0;
	volatile long double infinite = 1 / zero;
	volatile double      zero_too = 0;
	volatile double      infinite_too = 1 / zero_too;

	(void)infinite;
	(void)infinite_too;
}

static arch_stack unmask_and_compute(void *argument)
{
	struct pair         *p = argument;
	volatile long double x = 1;
	volatile double      y = 1;

	set_trapped(FE_DIVBYZERO);
	to_main(p);
	*(int *)p->data = trapped();
	x = x / 3;
	y = y / 3;
	return leave_for_main(p);
}

TEST_FP(flags_of_another_stack_do_not_trap)
{
	int         unmasked = 0;
	struct pair p;

	start_other(&p, m, unmask_and_compute, &unmasked);
	assert_int_equal(trapped(), 0);
	divide_by_zero();
	to_other(&p);
	assert_int_equal(unmasked, FE_DIVBYZERO);
	assert_int_equal(trapped(), 0);
}

static arch_stack compute_and_see(void *argument)
{
	struct pair         *p = argument;
	volatile long double x = 1;

	*(int *)p->data = trapped();
	x = x / 3;
	return p->main;
}

TEST_FP(flags_of_the_starter_do_not_trap)
{
	int         unmasked = 0;
	uint64_t    control;
	struct pair p;

	set_trapped(FE_DIVBYZERO);
	control = arch_fp_control();
	set_trapped(0);
	divide_by_zero();
	start_other_with(&p, m, compute_and_see, &unmasked, control);
	assert_int_equal(unmasked, FE_DIVBYZERO);
	assert_int_equal(trapped(), 0);
}

TEST_FP(setting_control_does_not_trap)
{
	volatile long double x = 1;
	uint64_t             masked = arch_fp_control();
	uint64_t             unmasked;

	set_trapped(FE_DIVBYZERO);
	unmasked = arch_fp_control();
	arch_fp_set_control(masked);
	divide_by_zero();
	arch_fp_set_control(unmasked);
	x = x / 3;
	arch_fp_set_control(masked);
	assert_int_equal(trapped(), 0);
}

#endif
