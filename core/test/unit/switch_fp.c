/* SPDX-License-Identifier: Apache-2.0 */
/* switch_fp.c - floating-point control belongs to the stack. The status flags
 * do not, and are no part of the control word. */
#include "switch.h"

#include <fenv.h>
#include <float.h>
#include <stdbool.h>

#ifdef SENNIT_NO_FP_CONTROL

TEST_ON_EACH(control_is_not_kept_in_this_build)
{
	struct machine *machine = m;

	assert_non_null(machine);
	assert_int_equal(arch_fp_control(), 0);
}

#else

/* Denormal results become zero. */
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

/* 1/3 rounded upward differs in its last bit from 1/3 rounded otherwise. */
static bool rounds_up(void)
{
	volatile double one = 1;
	volatile double three = 3;
	volatile double third = one / three;

	return third > 1.0 / 3.0;
}

static int restore_fp(void **state)
{
	return fesetenv(FE_DFL_ENV);
}

#define TEST_FP(f) TEST_ON_EACH_BETWEEN(f, restore_fp, restore_fp)

/* What one stack observes at each check. */
struct fiber_state {
	uint64_t control;
	int      round;
	int      flags;
	bool     flushes;
	bool     rounds_up;
};

static void look(struct fiber_state *s)
{
	s->flags = fetestexcept(FE_ALL_EXCEPT);
	s->control = arch_fp_control();
	s->round = fegetround();
	s->flushes = flushes();
	s->rounds_up = rounds_up();
}

static arch_stack round_up_and_flush(void *argument)
{
	struct pair        *p = argument;
	struct fiber_state *s = p->data;

	look(&s[0]);
	fesetround(FE_UPWARD);
	arch_fp_set_control(arch_fp_control() | FLUSH_TO_ZERO);
	to_main(p);
	look(&s[1]);
	to_main(p);
	look(&s[2]);
	return leave_for_main(p);
}

TEST_FP(control_is_each_stacks_own)
{
	struct fiber_state other[3];
	struct fiber_state mine[4];
	struct pair        p;

	fesetround(FE_DOWNWARD);
	look(&mine[0]);
	start_other(&p, m, round_up_and_flush, other);
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

static uint64_t control_that_rounds(int direction)
{
	uint64_t control;

	fesetround(direction);
	control = arch_fp_control() | FLUSH_TO_ZERO;
	fesetround(FE_TONEAREST);
	return control;
}

static arch_stack look_and_leave(void *argument)
{
	struct pair *p = argument;

	look(p->data);
	return p->main;
}

TEST_FP(a_started_stack_has_the_control_that_it_was_given)
{
	uint64_t           control = control_that_rounds(FE_UPWARD);
	struct fiber_state other;
	struct pair        p;

	start_other_with(&p, m, look_and_leave, &other, control);
	assert_int_equal(other.control, control);
	assert_int_equal(other.round, FE_UPWARD);
	assert_int_equal(other.flushes, FLUSH_TO_ZERO != 0);
	assert_true(other.rounds_up);
}

TEST_FP(a_started_stack_may_keep_the_control_of_its_starter)
{
	uint64_t           control = control_that_rounds(FE_UPWARD);
	struct fiber_state other;
	struct pair        p;

	arch_fp_set_control(control);
	start_other(&p, m, look_and_leave, &other);
	assert_int_equal(other.control, control);
	assert_true(other.rounds_up);
	assert_int_equal(arch_fp_control(), control);
}

TEST_FP(the_end_of_a_stack_restores_the_control_of_the_next)
{
	uint64_t           control = control_that_rounds(FE_UPWARD);
	struct fiber_state other;
	struct fiber_state mine;
	struct pair        p;

	fesetround(FE_DOWNWARD);
	start_other_with(&p, m, look_and_leave, &other, control);
	look(&mine);
	assert_int_equal(mine.round, FE_DOWNWARD);
	assert_false(mine.flushes);
	assert_false(mine.rounds_up);
}

static arch_stack look_twice(void *argument)
{
	struct pair        *p = argument;
	struct fiber_state *s = p->data;

	look(&s[0]);
	to_main(p);
	look(&s[1]);
	return p->main;
}

/* On x86-64 only MXCSR differs; the x87 control word is equal. */
TEST_FP(flushing_alone_is_difference_enough)
{
	struct fiber_state other[2];
	struct fiber_state mine[2];
	struct pair        p;

	start_other_with(&p, m, look_twice, other,
			 arch_fp_control() | FLUSH_TO_ZERO);
	look(&mine[0]);
	to_other(&p);
	look(&mine[1]);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(other[i].flushes, FLUSH_TO_ZERO != 0);
		assert_false(mine[i].flushes);
	}
}

/* The stack that ends was not started by the stack that resumes. */
struct relay {
	struct pair        pair;
	arch_stack         middle;
	struct fiber_state last;
	struct fiber_state seen;
};

static arch_stack end_for_the_middle(void *argument)
{
	struct relay *r = argument;

	look(&r->last);
	return r->middle;
}

static arch_stack round_up_and_wait(void *argument)
{
	struct relay *r = argument;

	fesetround(FE_UPWARD);
	r->pair.machine->go(&r->middle, r->pair.main);
	look(&r->seen);
	return leave_for_main(&r->pair);
}

TEST_FP(a_stack_may_end_for_one_that_did_not_start_it)
{
	uint64_t     control = control_that_rounds(FE_TOWARDZERO);
	struct relay r;

	fesetround(FE_DOWNWARD);
	start_other(&r.pair, m, round_up_and_wait, NULL);
	r.pair.machine->start(&r.pair.main, top_of(1), end_for_the_middle, &r,
			      control);
	assert_int_equal(r.last.round, FE_TOWARDZERO);
	assert_int_equal(r.seen.round, FE_UPWARD);
	assert_false(r.seen.flushes);
	assert_int_equal(fegetround(), FE_DOWNWARD);
}

TEST_FP(control_is_told_apart_from_flags)
{
	uint64_t control = arch_fp_control();

	feclearexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_DIVBYZERO);
	assert_int_equal(arch_fp_control(), control);
	fesetround(FE_TOWARDZERO);
	assert_int_not_equal(arch_fp_control(), control);
	arch_fp_set_control(control);
	assert_int_equal(fegetround(), FE_TONEAREST);
	assert_int_equal(arch_fp_control(), control);
}

#endif
