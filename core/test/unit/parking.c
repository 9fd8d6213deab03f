/* SPDX-License-Identifier: Apache-2.0 */
/* parking.c - which workers count as asleep, which as searching, and which
 * are woken. */
#include "parked_crowd.h"

#include <unistd.h>

/* --- counting ------------------------------------------------------------ */

TEST(a_new_crowd_is_awake_and_content)
{
	struct crowd *c = crowd_of(MOST);

	assert_counts(c, 0, 0);
}

TEST(who_begins_asleep_can_be_woken)
{
	struct crowd *c = crowd_of(70);

	sn_parking_begin(&c->parking, 66);
	assert_counts(c, 0, 66);
	sn_parking_wake(c->sleepers[65]);
	assert_true(is_woken(c, 65));
	assert_counts(c, 1, 65);
	sn_parking_wake(c->sleepers[66]);
	assert_false(is_woken(c, 66));
	sn_parking_withdraw(c->sleepers[65]);
	sn_parking_withdraw(c->sleepers[0]);
	assert_counts(c, 2, 64);
}

TEST(a_searcher_that_announces_becomes_a_sleeper)
{
	struct crowd *c = crowd_of(4);

	assert_true(sn_parking_search(&c->parking));
	assert_counts(c, 1, 0);
	sn_parking_announce(c->sleepers[2], true);
	assert_counts(c, 0, 1);
	sn_parking_announce(c->sleepers[3], false);
	assert_counts(c, 0, 2);
}

TEST(who_announces_last_is_told_that_all_sleep)
{
	struct crowd *c = crowd_of(3);

	assert_false(sn_parking_announce(c->sleepers[0], false));
	assert_true(sn_parking_search(&c->parking));
	assert_false(sn_parking_announce(c->sleepers[1], false));
	assert_false(sn_parking_all_sleep(&c->parking));
	assert_true(sn_parking_announce(c->sleepers[2], true));
	assert_true(sn_parking_all_sleep(&c->parking));
	sn_parking_wake(c->sleepers[0]);
	assert_false(sn_parking_all_sleep(&c->parking));
	sn_parking_withdraw(c->sleepers[1]);
	assert_false(sn_parking_announce(c->sleepers[1], true));
}

TEST(who_withdraws_is_a_searcher)
{
	struct crowd *c = crowd_of(4);

	announce(c, 0, 2);
	sn_parking_withdraw(c->sleepers[0]);
	assert_counts(c, 1, 1);
	sn_parking_withdraw(c->sleepers[1]);
	assert_counts(c, 2, 0);
}

TEST(only_the_last_searcher_to_find_work_wakes_another)
{
	struct crowd *c = crowd_of(4);

	assert_true(sn_parking_search(&c->parking));
	assert_true(sn_parking_search(&c->parking));
	assert_false(sn_parking_found(&c->parking));
	assert_true(sn_parking_found(&c->parking));
	assert_counts(c, 0, 0);
}

TEST(only_so_many_of_those_awake_may_search)
{
	struct crowd *c = crowd_of(12);
	uint32_t      searchers = 0;

	announce(c, 0, 4);
	while (searchers < 8 && sn_parking_search(&c->parking))
		searchers++;
	/* Half of the eight awake workers, or one more. */
	assert_in_range(searchers, 4, 5);
	assert_counts(c, searchers, 4);
	sn_parking_found(&c->parking);
	sn_parking_found(&c->parking);
	assert_true(sn_parking_search(&c->parking));
}

TEST(a_worker_alone_may_search)
{
	struct crowd *c = crowd_of(1);

	assert_true(sn_parking_search(&c->parking));
}

/* --- waking -------------------------------------------------------------- */

TEST(the_preferred_sleeper_is_woken)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct crowd *c = crowd_of(8);

		announce(c, 0, 8);
		sn_parking_wake_one(&c->parking, i);
		assert_true(is_woken(c, i));
		assert_counts(c, 1, 7);
	}
}

TEST(another_is_woken_when_the_preferred_is_awake)
{
	struct crowd *c = crowd_of(8);

	announce(c, 5, 6);
	sn_parking_wake_one(&c->parking, 1);
	assert_true(is_woken(c, 5));
	assert_false(is_woken(c, 1));
	assert_counts(c, 1, 0);
}

TEST(a_claimed_sleeper_counts_as_the_searcher)
{
	struct crowd *c = crowd_of(4);

	announce(c, 0, 2);
	sn_parking_wake_one(&c->parking, 0);
	assert_counts(c, 1, 1);
	sn_parking_withdraw(c->sleepers[0]); /* the waker already counted it */
	assert_counts(c, 1, 1);
	assert_true(sn_parking_found(&c->parking));
	assert_counts(c, 0, 1);
}

TEST(who_is_woken_learns_who_has_the_work)
{
	struct crowd *c = crowd_of(8);

	announce(c, 5, 8);
	sn_parking_wake_one(&c->parking, 2);
	sn_parking_withdraw(c->sleepers[5]);
	assert_int_equal(sn_parking_about(c->sleepers[5]), 2);
	sn_parking_wake(c->sleepers[6]);
	sn_parking_withdraw(c->sleepers[6]);
	assert_int_equal(sn_parking_about(c->sleepers[6]), 6);
	sn_parking_withdraw(c->sleepers[7]); /* the worker counts itself */
	assert_int_equal(sn_parking_about(c->sleepers[7]), 7);
}

TEST(a_burst_wakes_one)
{
	struct crowd *c = crowd_of(4);

	announce(c, 0, 4);
	for (uint32_t i = 0; i < 4; i++)
		sn_parking_wake_one(&c->parking, i);
	assert_true(is_woken(c, 0));
	for (uint32_t i = 1; i < 4; i++)
		assert_false(is_woken(c, i));
	assert_counts(c, 1, 3);
}

TEST(nobody_is_woken_while_somebody_searches)
{
	struct crowd *c = crowd_of(4);

	announce(c, 0, 1);
	assert_true(sn_parking_search(&c->parking));
	sn_parking_wake_one(&c->parking, 0);
	assert_false(is_woken(c, 0));
	assert_counts(c, 1, 1);
}

TEST(work_for_one_wakes_it_whoever_searches)
{
	struct crowd *c = crowd_of(4);

	announce(c, 0, 3);
	assert_true(sn_parking_search(&c->parking));
	sn_parking_wake(c->sleepers[1]);
	assert_true(is_woken(c, 1));
	assert_false(is_woken(c, 0));
	assert_false(is_woken(c, 2));
	assert_counts(c, 2, 2);
}

TEST(waking_who_is_awake_changes_nothing)
{
	struct crowd *c = crowd_of(4);

	sn_parking_wake(c->sleepers[1]);
	sn_parking_wake_one(&c->parking, 1);
	assert_counts(c, 0, 0);
	announce(c, 1, 2);
	sn_parking_wake(c->sleepers[1]);
	sn_parking_wake(c->sleepers[1]); /* claimed only once */
	assert_counts(c, 1, 0);
}

TEST(every_sleeper_is_found_beyond_the_first_word)
{
	for (uint32_t i = 60; i < MOST; i++) {
		struct crowd *c = crowd_of(i + 1);

		announce(c, i, i + 1);
		sn_parking_wake_one(&c->parking, 0);
		assert_true(is_woken(c, i));
		for (uint32_t other = 0; other < i; other++)
			assert_false(is_woken(c, other));
		assert_counts(c, 1, 0);
	}
}

/* --- empty workers ------------------------------------------------------- */

static void assert_empty(const struct crowd *c, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(sn_parking_is_empty(&c->parking, i),
				 i >= from && i < to);
}

TEST(who_is_asleep_is_empty_until_it_is_not)
{
	struct crowd *c = crowd_of(MOST);

	assert_empty(c, 0, 0);
	announce(c, 30, 100);
	assert_empty(c, 30, 100);
	sn_parking_withdraw(c->sleepers[30]);
	assert_empty(c, 31, 100);
	sn_parking_wake(c->sleepers[99]);
	assert_empty(c, 31, 99);
	sn_parking_resize(&c->parking, MOST, 0, 0);
	assert_true(sn_parking_retire(c->sleepers[98]));
	assert_empty(c, 31, 98);
}

TEST(who_gets_a_task_sleeps_on_but_is_not_empty)
{
	struct crowd *c = crowd_of(MOST);

	sn_parking_fill(c->sleepers[63]); /* awake: it looks for itself */
	assert_empty(c, 0, 0);
	announce(c, 63, 65);
	sn_parking_fill(c->sleepers[63]);
	sn_parking_fill(c->sleepers[63]);
	assert_empty(c, 64, 65);
	assert_true(sn_parking_is_asleep(c->sleepers[63]));
	assert_counts(c, 0, 2);
	sn_parking_wake_one(&c->parking, 63);
	assert_true(is_woken(c, 63));
	sn_parking_withdraw(c->sleepers[63]);
	sn_parking_announce(c->sleepers[63], true);
	assert_empty(c, 63, 65);
}

/* A new worker that begins asleep may already have tasks in its inbox. */
TEST(who_begins_asleep_is_not_empty)
{
	struct crowd *c = crowd_of(MOST);

	sn_parking_begin(&c->parking, MOST);
	assert_empty(c, 0, 0);
}

static int begin_all(void)
{
	alarm(300); /* ends a test that hangs after a lost wake */
	return 0;
}

BEFORE_ALL(begin_all);
