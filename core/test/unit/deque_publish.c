/* SPDX-License-Identifier: Apache-2.0 */
/* deque_publish.c - the public part of the split deque, step by step:
 * requests, thefts, what the owner takes back, and forced publication. */
#include "one_deque.h"

TEST_STEP(private_tasks_are_not_stolen)
{
	struct task t;

	push(1, 3);
	assert_int_equal(sn_deque_steal(&deque, &t, 1), 0);
	assert_false(sn_deque_has_public(&deque));
	assert_true(sn_deque_has_tasks(&deque));
	assert_int_equal(sn_deque_count(&deque), 3);
}

TEST_STEP(a_thief_gets_the_older_half_of_the_public_tasks)
{
	struct task t[8];

	push(1, 10);
	assert_int_equal(sn_deque_publish(&deque), 5);
	assert_int_equal(sn_deque_steal(&deque, t, 8), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(number_of(t[i]), i + 1);
	assert_int_equal(sn_deque_steal(&deque, t, 8), 1);
	assert_int_equal(number_of(t[0]), 4);
	assert_int_equal(sn_deque_steal(&deque, t, 8), 1);
	assert_int_equal(number_of(t[0]), 5);
	assert_int_equal(sn_deque_steal(&deque, t, 8), 0);
	assert_int_equal(sn_deque_count(&deque), 5);
}

TEST_STEP(a_thief_gets_no_more_than_it_can_hold)
{
	struct task t[3] = { { .meta = 99 }, { .meta = 99 }, { .meta = 99 } };

	push(1, 20);
	sn_deque_publish(&deque);
	assert_int_equal(sn_deque_steal(&deque, t, 0), 0);
	assert_int_equal(sn_deque_steal(&deque, t, 2), 2);
	assert_int_equal(number_of(t[1]), 2);
	assert_int_equal(t[2].meta, 99);
}

TEST_STEP(a_request_stands_until_the_owner_publishes)
{
	assert_false(sn_deque_ask(&deque));
	assert_false(sn_deque_is_asked(&deque));
	push(1, 3);
	assert_true(sn_deque_ask(&deque));
	assert_true(sn_deque_is_asked(&deque));
	assert_int_equal(sn_deque_publish(&deque), 2);
	assert_false(sn_deque_is_asked(&deque));
}

TEST_STEP(a_request_ends_when_the_owner_finds_nothing)
{
	push(1, 1);
	assert_true(sn_deque_ask(&deque));
	assert_int_equal(pop(), 1);
	assert_empty();
	assert_false(sn_deque_is_asked(&deque));
	assert_false(sn_deque_ask(&deque));
}

TEST_STEP(publishing_nothing_publishes_nothing)
{
	assert_int_equal(sn_deque_publish(&deque), 0);
	push(1, 1);
	assert_int_equal(sn_deque_publish(&deque), 1);
	assert_int_equal(sn_deque_publish(&deque), 1);
}

/* Tries all counts of public tasks around TAKE_BACK_MAX. */
TEST_STEP(the_owner_takes_back_the_newest_of_what_is_public)
{
	for (uint32_t count = 1; count < 70; count++) {
		push(1, count);
		while (sn_deque_publish(&deque) < count)
			;
		assert_int_equal(pop(), count);
		assert_int_equal(sn_deque_count(&deque), count - 1);
		while (sn_deque_count(&deque))
			pop();
		assert_empty();
	}
}

TEST_STEP(taking_back_and_stealing_share_all_tasks)
{
	bool        seen[41] = { false };
	struct task t;

	push(1, 40);
	while (sn_deque_publish(&deque) < 40)
		;
	for (uint32_t left = 40; left; left--) {
		uint32_t n = left % 3 == 0 && sn_deque_steal(&deque, &t, 1)
				     ? number_of(t)
				     : pop();

		assert_false(seen[n]);
		seen[n] = true;
	}
	assert_empty();
}

/* A thief is delayed between reading a task and claiming it. Meanwhile the
 * owner takes the task back, runs it, and publishes another task at its
 * position. The thief's claim compares with the `pub` that it saw before. */
TEST_STEP(pub_never_returns_to_an_old_value)
{
	uint64_t before;

	push(1, 1);
	sn_deque_publish(&deque);
	before = a_load_rlx(&deque.pub);
	assert_int_equal(pop(), 1);
	push(2, 2);
	sn_deque_publish(&deque);
	assert_true(a_load_rlx(&deque.pub) != before);
	assert_int_equal(pop(), 2);
}

TEST_STEP(force_publishes_the_older_half)
{
	struct task t[4];

	assert_false(sn_deque_force(&deque));
	push(1, 5);
	assert_true(sn_deque_force(&deque));
	assert_int_equal(sn_deque_steal(&deque, t, 4), 2);
	assert_int_equal(number_of(t[0]), 1);
	assert_int_equal(pop(), 5);
	assert_int_equal(pop(), 4);
	assert_int_equal(pop(), 3);
	assert_empty();
}

TEST_STEP(force_gives_up_while_another_is_at_it)
{
	push(1, 2);
	a_store_rlx(&deque.lock, 1);
	assert_false(sn_deque_force(&deque));
	assert_int_equal(sn_deque_publish(&deque), 0);
	a_store_rlx(&deque.lock, 0);
	assert_true(sn_deque_force(&deque));
}

/* The state while a thief is between raising guard and raising split. */
TEST_STEP(the_owner_sees_its_tasks_during_a_forced_take)
{
	assert_false(sn_deque_has_tasks_owner(&deque));
	push(1, 1);
	assert_true(sn_deque_has_tasks_owner(&deque));
	a_store_rlx(&deque.guard, a_load_rlx(&deque.bottom));
	assert_true(sn_deque_has_tasks_owner(&deque));
	a_store_rlx(&deque.guard, a_load_rlx(&deque.bottom) - 1);
	sn_deque_publish(&deque);
	assert_true(sn_deque_has_tasks_owner(&deque));
}
