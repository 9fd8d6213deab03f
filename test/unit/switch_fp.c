/* SPDX-License-Identifier: Apache-2.0 */
/* switch_fp.c - floating-point control belongs to the stack, status flags to
 * the thread. */
#include "switch.h"

#include <fenv.h>
#include <float.h>
#include <stdbool.h>

#ifdef SENNIT_NO_FP_CONTROL

static void control_is_not_kept_in_this_build(void **state)
{
	struct machine *machine = *state;

	assert_non_null(machine);
	assert_int_equal(arch_fp_control(), 0);
}

static int run_on(const char *name, struct machine *machine)
{
	const struct CMUnitTest cases[] = {
		{ "control_is_not_kept_in_this_build",
		  control_is_not_kept_in_this_build, NULL, NULL, machine },
	};

	return cmocka_run_group_tests_name(name, cases, NULL, NULL);
}

#else

/* Results below the normal range become zero. */
#if defined(__x86_64__)
#define FLUSH_TO_ZERO ((uint64_t)1 << 15)
#elif defined(__aarch64__)
#define FLUSH_TO_ZERO ((uint64_t)1 << 24)
#else
#define FLUSH_TO_ZERO 0
#endif

static bool flushes(void)
{
	volatile double smallest = DBL_MIN;
	volatile double half = smallest / 2;

	return half == 0;
}

/* A third differs in its last bit between upward and the other directions. */
static bool rounds_up(void)
{
	volatile double one = 1;
	volatile double three = 3;
	volatile double third = one / three;

	return third > 1.0 / 3.0;
}

static int restore_fp(void **state)
{
	(void)state;
	return fesetenv(FE_DFL_ENV);
}

/* What one stack sees, each time that it is looked at. */
struct sight {
	uint64_t control;
	int      round;
	int      flags;
	bool     flushes;
	bool     rounds_up;
};

static void look(struct sight *s)
{
	s->flags = fetestexcept(FE_ALL_EXCEPT);
	s->control = arch_fp_control();
	s->round = fegetround();
	s->flushes = flushes();
	s->rounds_up = rounds_up();
}

static arch_stack round_up_and_flush(void *argument)
{
	struct pair  *p = argument;
	struct sight *s = p->data;

	look(&s[0]);
	fesetround(FE_UPWARD);
	arch_fp_set_control(arch_fp_control() | FLUSH_TO_ZERO);
	to_main(p);
	look(&s[1]);
	to_main(p);
	look(&s[2]);
	return p->main; /* with the control still changed */
}

static void control_is_each_stacks_own(void **state)
{
	struct sight other[3];
	struct sight mine[4];
	struct pair  p;

	fesetround(FE_DOWNWARD);
	look(&mine[0]);
	start_other(&p, state, round_up_and_flush, other);
	look(&mine[1]);
	to_other(&p);
	look(&mine[2]);
	to_other(&p);
	look(&mine[3]);

	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(mine[i].control, mine[0].control);
		assert_int_equal(mine[i].round, FE_DOWNWARD);
		assert_false(mine[i].flushes);
		assert_false(mine[i].rounds_up);
	}
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(other[i].round, FE_UPWARD);
		assert_int_equal(other[i].flushes, FLUSH_TO_ZERO != 0);
		assert_true(other[i].rounds_up);
	}
}

static void a_started_stack_has_the_control_of_its_starter(void **state)
{
	struct sight other[3];
	struct pair  p;

	fesetround(FE_UPWARD);
	arch_fp_set_control(arch_fp_control() | FLUSH_TO_ZERO);
	start_other(&p, state, round_up_and_flush, other);
	assert_int_equal(other[0].round, FE_UPWARD);
	assert_int_equal(other[0].flushes, FLUSH_TO_ZERO != 0);
}

/* By computing: feraiseexcept() may choose the x87. */
static void overflow(void)
{
	volatile double large = DBL_MAX;

	large *= 2;
	(void)large;
}

static void underflow(void)
{
	volatile double small = DBL_MIN;

	small *= DBL_EPSILON / 3;
	(void)small;
}

static arch_stack raise_and_see(void *argument)
{
	struct pair *p = argument;
	int         *flags = p->data;

	overflow();
	to_main(p);
	flags[0] = fetestexcept(FE_ALL_EXCEPT);
	fesetround(FE_UPWARD); /* the next switches must load */
	feraiseexcept(FE_DIVBYZERO);
	to_main(p);
	flags[1] = fetestexcept(FE_ALL_EXCEPT);
	feclearexcept(FE_ALL_EXCEPT);
	underflow();
	return p->main;
}

static void status_flags_are_the_threads(void **state)
{
	int         flags[2];
	struct pair p;

	feclearexcept(FE_ALL_EXCEPT);
	start_other(&p, state, raise_and_see, flags);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT) & ~FE_INEXACT, FE_OVERFLOW);
	feclearexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_INVALID);
	to_other(&p);
	assert_int_equal(flags[0], FE_INVALID);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT),
			 FE_INVALID | FE_DIVBYZERO);
	feclearexcept(FE_DIVBYZERO);
	to_other(&p);
	assert_int_equal(flags[1], FE_INVALID);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT) & ~FE_INEXACT,
			 FE_UNDERFLOW);
}

static void setting_control_leaves_the_flags(void **state)
{
	uint64_t control = arch_fp_control();

	(void)state;
	feclearexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_DIVBYZERO);
	assert_int_equal(arch_fp_control(), control);
	fesetround(FE_TOWARDZERO);
	assert_int_not_equal(arch_fp_control(), control);
	arch_fp_set_control(control);
	assert_int_equal(fegetround(), FE_TONEAREST);
	assert_int_equal(arch_fp_control(), control);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
}

#if defined(__x86_64__)
/* Precision is a matter of the x87 alone: MXCSR is equal on both stacks. */
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
	return p->main;
}

static void x87_control_is_each_stacks_own(void **state)
{
	uint16_t    seen = 0;
	struct pair p;

	start_other(&p, state, compute_in_double_precision, &seen);
	assert_int_equal(x87_control(), 0x37f);
	to_other(&p);
	assert_int_equal(x87_control(), 0x37f);
	assert_int_equal(seen, 0x27f);
}

/* Traps on division by zero; divides by zero where that is masked. */
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

	feenableexcept(FE_DIVBYZERO);
	to_main(p);
	*(int *)p->data = fegetexcept();
	x = x / 3;
	y = y / 3;
	return p->main;
}

static void flags_of_another_stack_do_not_trap(void **state)
{
	int         unmasked = 0;
	struct pair p;

	start_other(&p, state, unmask_and_compute, &unmasked);
	assert_int_equal(fegetexcept(), 0);
	divide_by_zero();
	to_other(&p);
	assert_int_equal(unmasked, FE_DIVBYZERO);
	assert_int_equal(fegetexcept(), 0);
}

static void setting_control_does_not_trap(void **state)
{
	volatile long double x = 1;
	uint64_t             masked = arch_fp_control();
	uint64_t             unmasked;

	(void)state;
	feenableexcept(FE_DIVBYZERO);
	unmasked = arch_fp_control();
	arch_fp_set_control(masked);
	divide_by_zero();
	arch_fp_set_control(unmasked);
	x = x / 3;
	arch_fp_set_control(masked);
	assert_int_equal(fegetexcept(), 0);
}
#endif

static int run_on(const char *name, struct machine *machine)
{
#define CASE(f) { #f, f, restore_fp, restore_fp, machine }
	const struct CMUnitTest cases[] = {
		CASE(control_is_each_stacks_own),
		CASE(a_started_stack_has_the_control_of_its_starter),
		CASE(status_flags_are_the_threads),
		CASE(setting_control_leaves_the_flags),
#if defined(__x86_64__)
		CASE(x87_control_is_each_stacks_own),
		CASE(flags_of_another_stack_do_not_trap),
		CASE(setting_control_does_not_trap),
#endif
	};

	return cmocka_run_group_tests_name(name, cases, NULL, NULL);
}
#endif
