/* SPDX-License-Identifier: Apache-2.0 */
/* stack_refused.c - in builds without canaries, a stack without a guard is
 * refused: no task runs on a stack whose overflow would not be noticed. */
#include "stacks.h"
#include "os/os.h"

enum { GUARDS = 12, MANY = 200 };

static void give_all(struct stacks *s, void *low[], uint32_t count)
{
	sn_stacks_give(s, low, count);
	sn_stacks_free(s);
}

/* Symptom: the 13th of these stacks had no guard. */
TEST(stacks_beyond_the_guards_are_refused)
{
	void         *low[MANY];
	struct stacks s;

	make_guarded(&s, GUARDS);
	assert_false(sn_stacks_are_limited(&s));
	for (int round = 0; round < 3; round++) {
		assert_int_equal(take_stacks(&s, low, MANY), GUARDS);
		assert_int_equal(count_guarded(&s, low, GUARDS), GUARDS);
		assert_int_equal(sn_stacks_count(&s).unguarded, 0);
		assert_true(sn_stacks_count(&s).no_guard);
		assert_true(sn_stacks_are_limited(&s));
		if (round)
			sn_stacks_return(&s, low, GUARDS);
		else
			sn_stacks_give(&s, low, GUARDS);
	}
	sn_stacks_free(&s);
}

TEST(guards_of_an_ended_scheduler_are_free_for_others)
{
	void         *low[MANY], *others[GUARDS];
	struct stacks s, other;
	uint32_t      n;

	make_guarded(&s, GUARDS);
	make_guarded(&other, GUARDS);
	assert_int_equal(take_stacks(&other, others, GUARDS - 2), GUARDS - 2);
	n = take_stacks(&s, low, MANY);
	assert_int_equal(n, 2);
	give_all(&other, others, GUARDS - 2);
	sn_kept_slab_drop();
	n += take_stacks(&s, low + n, GUARDS - n);
	assert_int_equal(n, GUARDS);
	assert_false(sn_stacks_count(&s).no_guard);
	give_all(&s, low, n);
}

/* Else a scheduler stood still because another one has many idle stacks. */
TEST(each_scheduler_has_an_assured_share)
{
	void         *low[MANY];
	struct stacks s;

	make_guarded(&s, 0);
	s.slabs.guards.assured = GUARDS;
	assert_int_equal(take_stacks(&s, low, MANY), GUARDS);
	assert_int_equal(count_guarded(&s, low, GUARDS), GUARDS);
	give_all(&s, low, GUARDS);
}

TEST(stacks_set_aside_have_guards_beyond_the_limit)
{
	void         *low[MANY], *bottom[3];
	struct stacks s;

	make_guarded(&s, 0);
	s.slabs.guards.assured = GUARDS;
	for (int i = 0; i < 3; i++) {
		bottom[i] = sn_stacks_set_aside(&s);
		assert_non_null(bottom[i]);
	}
	assert_int_equal(take_stacks(&s, low, GUARDS), GUARDS);
	for (int i = 0; i < 3; i++)
		low[GUARDS + i] = sn_stacks_take_aside(&s, bottom[i]);
	assert_int_equal(count_guarded(&s, low, GUARDS + 3), GUARDS + 3);
	give_all(&s, low, GUARDS + 3);
}
