/* SPDX-License-Identifier: Apache-2.0 */
/* parking.c - which workers count as asleep, which as searching, and which
 * are woken. */
#include "parked_crowd.h"

#include <unistd.h>

/* --- counting ------------------------------------------------------------ */

static void a_new_crowd_is_awake_and_content(void **state)
{
	struct crowd *c = crowd_of(MOST);

	(void)state;
	assert_counts(c, 0, 0);
}

static void who_begins_asleep_can_be_woken(void **state)
{
	struct crowd *c = crowd_of(70);

	(void)state;
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

static void a_searcher_that_announces_becomes_a_sleeper(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	assert_true(sn_parking_search(&c->parking));
	assert_counts(c, 1, 0);
	sn_parking_announce(c->sleepers[2], true);
	assert_counts(c, 0, 1);
	sn_parking_announce(c->sleepers[3], false);
	assert_counts(c, 0, 2);
}

static void who_announces_last_is_told_that_all_sleep(void **state)
{
	struct crowd *c = crowd_of(3);

	(void)state;
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

static void who_withdraws_is_a_searcher(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	announce(c, 0, 2);
	sn_parking_withdraw(c->sleepers[0]);
	assert_counts(c, 1, 1);
	sn_parking_withdraw(c->sleepers[1]);
	assert_counts(c, 2, 0);
}

static void only_the_last_searcher_to_find_work_wakes_another(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	assert_true(sn_parking_search(&c->parking));
	assert_true(sn_parking_search(&c->parking));
	assert_false(sn_parking_found(&c->parking));
	assert_true(sn_parking_found(&c->parking));
	assert_counts(c, 0, 0);
}

static void only_so_many_of_those_awake_may_search(void **state)
{
	struct crowd *c = crowd_of(12);
	uint32_t      searchers = 0;

	(void)state;
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

static void a_worker_alone_may_search(void **state)
{
	struct crowd *c = crowd_of(1);

	(void)state;
	assert_true(sn_parking_search(&c->parking));
}

/* --- waking -------------------------------------------------------------- */

static void the_preferred_sleeper_is_woken(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct crowd *c = crowd_of(8);

		announce(c, 0, 8);
		sn_parking_wake_one(&c->parking, i);
		assert_true(is_woken(c, i));
		assert_counts(c, 1, 7);
	}
}

static void another_is_woken_when_the_preferred_is_awake(void **state)
{
	struct crowd *c = crowd_of(8);

	(void)state;
	announce(c, 5, 6);
	sn_parking_wake_one(&c->parking, 1);
	assert_true(is_woken(c, 5));
	assert_false(is_woken(c, 1));
	assert_counts(c, 1, 0);
}

static void a_claimed_sleeper_counts_as_the_searcher(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	announce(c, 0, 2);
	sn_parking_wake_one(&c->parking, 0);
	assert_counts(c, 1, 1);
	sn_parking_withdraw(c->sleepers[0]); /* the waker already counted it */
	assert_counts(c, 1, 1);
	assert_true(sn_parking_found(&c->parking));
	assert_counts(c, 0, 1);
}

static void who_is_woken_learns_who_has_the_work(void **state)
{
	struct crowd *c = crowd_of(8);

	(void)state;
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

static void a_burst_wakes_one(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	announce(c, 0, 4);
	for (uint32_t i = 0; i < 4; i++)
		sn_parking_wake_one(&c->parking, i);
	assert_true(is_woken(c, 0));
	for (uint32_t i = 1; i < 4; i++)
		assert_false(is_woken(c, i));
	assert_counts(c, 1, 3);
}

static void nobody_is_woken_while_somebody_searches(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	announce(c, 0, 1);
	assert_true(sn_parking_search(&c->parking));
	sn_parking_wake_one(&c->parking, 0);
	assert_false(is_woken(c, 0));
	assert_counts(c, 1, 1);
}

static void work_for_one_wakes_it_whoever_searches(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	announce(c, 0, 3);
	assert_true(sn_parking_search(&c->parking));
	sn_parking_wake(c->sleepers[1]);
	assert_true(is_woken(c, 1));
	assert_false(is_woken(c, 0));
	assert_false(is_woken(c, 2));
	assert_counts(c, 2, 2);
}

static void waking_who_is_awake_changes_nothing(void **state)
{
	struct crowd *c = crowd_of(4);

	(void)state;
	sn_parking_wake(c->sleepers[1]);
	sn_parking_wake_one(&c->parking, 1);
	assert_counts(c, 0, 0);
	announce(c, 1, 2);
	sn_parking_wake(c->sleepers[1]);
	sn_parking_wake(c->sleepers[1]); /* claimed only once */
	assert_counts(c, 1, 0);
}

static void every_sleeper_is_found_beyond_the_first_word(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_crowd_is_awake_and_content),
		cmocka_unit_test(who_begins_asleep_can_be_woken),
		cmocka_unit_test(a_searcher_that_announces_becomes_a_sleeper),
		cmocka_unit_test(who_announces_last_is_told_that_all_sleep),
		cmocka_unit_test(who_withdraws_is_a_searcher),
		cmocka_unit_test(
			only_the_last_searcher_to_find_work_wakes_another),
		cmocka_unit_test(only_so_many_of_those_awake_may_search),
		cmocka_unit_test(a_worker_alone_may_search),
		cmocka_unit_test(the_preferred_sleeper_is_woken),
		cmocka_unit_test(another_is_woken_when_the_preferred_is_awake),
		cmocka_unit_test(a_claimed_sleeper_counts_as_the_searcher),
		cmocka_unit_test(who_is_woken_learns_who_has_the_work),
		cmocka_unit_test(a_burst_wakes_one),
		cmocka_unit_test(nobody_is_woken_while_somebody_searches),
		cmocka_unit_test(work_for_one_wakes_it_whoever_searches),
		cmocka_unit_test(waking_who_is_awake_changes_nothing),
		cmocka_unit_test(every_sleeper_is_found_beyond_the_first_word),
	};

	alarm(300); /* ends a test that hangs after a lost wake */
	return cmocka_run_group_tests_name("parking", tests, NULL, NULL);
}
