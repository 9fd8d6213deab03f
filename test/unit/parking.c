/* SPDX-License-Identifier: Apache-2.0 */
/* parking.c - which workers count as asleep, which as searching, and which are
 * woken. */
#include "core/parking.h"
#include "os/os.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#define PASSED 1 /* a deadline long past */

enum { MOST = 130 };

/* The workers of a scheduler, as parking sees them. */
struct crowd {
	struct parking  parking;
	struct sleeper *sleepers[MOST];
	struct sleeper  bodies[MOST];
};

static struct crowd *crowd_of(uint32_t workers)
{
	static struct crowd c;

	sn_parking_init(&c.parking, c.sleepers, workers);
	for (uint32_t i = 0; i < workers; i++) {
		sn_sleeper_init(&c.bodies[i], &c.parking, i);
		c.sleepers[i] = &c.bodies[i];
	}
	return &c;
}

static void assert_counts(const struct crowd *c, uint32_t searchers,
			  uint32_t sleepers)
{
	const struct parking *p = &c->parking;
	const uint64_t        counts = a_load_rlx(&p->counts);

	assert_int_equal(counts >> 32, searchers);
	assert_int_equal((uint32_t)counts, sleepers);
	assert_int_equal(sn_parking_has_sleepers(p), sleepers != 0);
	assert_int_equal(sn_parking_is_hungry(p), sleepers && !searchers);
}

static void announce(struct crowd *c, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		sn_parking_announce(c->sleepers[i], false);
}

static bool is_woken(struct crowd *c, uint32_t index)
{
	return sn_parking_sleep(c->sleepers[index], PASSED);
}

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

/* --- sleeping ------------------------------------------------------------ */

static void a_sleep_ends_at_its_deadline_not_before(void **state)
{
	struct crowd     *c = crowd_of(1);
	const sennit_time deadline = os_now() + 3 * SENNIT_MILLISECOND;

	(void)state;
	announce(c, 0, 1);
	assert_false(sn_parking_sleep(c->sleepers[0], deadline));
	assert_true(os_now() >= deadline);
	assert_counts(c, 0, 1); /* asleep until it withdraws */
}

static void an_old_wake_does_not_end_the_next_sleep(void **state)
{
	struct crowd *c = crowd_of(2);

	(void)state;
	announce(c, 0, 1);
	sn_parking_wake_one(&c->parking, 0);
	assert_true(is_woken(c, 0));
	sn_parking_announce(c->sleepers[0], true);
	assert_counts(c, 0, 1);
	assert_false(is_woken(c, 0));
}

struct night {
	struct sleeper *sleeper;
	a_u32           awake; /* how far the thread has got */
	a_u32           told;
	bool            was_told;
};

static void *sleep_and_withdraw(void *argument)
{
	struct night *n = argument;

	if (!sn_parking_sleep(n->sleeper, SENNIT_NEVER))
		return NULL;
	sn_parking_withdraw(n->sleeper);
	a_store_rel(&n->awake, 1);
	return n;
}

static void a_sleeping_thread_is_woken(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct crowd *c = crowd_of(2);
		struct night  n = { .sleeper = c->sleepers[1] };
		pthread_t     thread;
		void         *woken;

		announce(c, 1, 2);
		assert_int_equal(
			pthread_create(&thread, NULL, sleep_and_withdraw, &n),
			0);
		for (unsigned yields = i % 16; yields; yields--)
			os_thread_yield();
		assert_int_equal(a_load_acq(&n.awake), 0);
		if (i % 2)
			sn_parking_wake_one(&c->parking, 0);
		else
			sn_parking_wake(c->sleepers[1]);
		pthread_join(thread, &woken);
		assert_ptr_equal(woken, &n);
		assert_counts(c, 1, 0);
	}
}

static void *withdraw(void *argument)
{
	struct night *n = argument;

	a_store_rel(&n->awake, 1);
	sn_parking_withdraw(n->sleeper);
	n->was_told = a_load_acq(&n->told);
	return NULL;
}

/* A waker has taken the bit and has been delayed after that. */
static void who_is_claimed_waits_to_be_told(void **state)
{
	struct crowd *c = crowd_of(2);
	struct night  n = { .sleeper = c->sleepers[1] };
	pthread_t     thread;

	(void)state;
	announce(c, 1, 2);
	a_and_acqrel(&c->parking.asleep[0], ~UINT64_C(2));
	assert_int_equal(pthread_create(&thread, NULL, withdraw, &n), 0);
	while (!a_load_acq(&n.awake))
		os_thread_yield();
	for (unsigned yields = 200; yields; yields--)
		os_thread_yield();
	assert_counts(c, 0, 1);
	a_store_rel(&n.told, 1);
	a_store_rel(&n.sleeper->token, 1);
	os_word_wake_one(&n.sleeper->token);
	pthread_join(thread, NULL);
	assert_true(n.was_told);
	assert_counts(c, 0, 1); /* the waker must count it */
}

/* --- workers without a thread ------------------------------------------- */

static uint32_t starts;

static void count_start(struct parking *p)
{
	starts++;
	sn_parking_started(p);
}

static struct crowd *crowd_with_threadless(uint32_t present,
					   uint32_t threadless)
{
	struct crowd *c = crowd_of(MOST);

	starts = 0;
	c->parking.start = count_start;
	sn_parking_resize(&c->parking, present, threadless);
	return c;
}

static void a_threadless_worker_is_started_when_nobody_sleeps(void **state)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	(void)state;
	assert_counts(c, 0, 6);
	sn_parking_wake_one(&c->parking, 0);
	assert_int_equal(starts, 1);
	assert_counts(c, 1, 5);
	sn_parking_wake_one(&c->parking, 0); /* the worker that is being started
					      * searches */
	assert_int_equal(starts, 1);
}

static void a_sleeper_is_preferred_to_a_vacant_worker(void **state)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	(void)state;
	announce(c, 1, 2);
	sn_parking_wake_one(&c->parking, 0);
	assert_int_equal(starts, 0);
	assert_true(is_woken(c, 1));
	assert_counts(c, 1, 6);
}

static void a_vacant_worker_that_cannot_be_started_is_vacant_again(void **state)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	(void)state;
	sn_parking_started(&c->parking);
	assert_counts(c, 1, 5);
	sn_parking_unstarted(&c->parking);
	assert_counts(c, 0, 6);
	sn_parking_wake_one(&c->parking, 0);
	assert_int_equal(starts, 1);
}

static void a_sleeper_that_retires_is_vacant(void **state)
{
	struct crowd *c = crowd_with_threadless(8, 0);

	(void)state;
	announce(c, 1, 2);
	assert_true(sn_parking_retire(c->sleepers[1]));
	assert_counts(c, 0, 1);
	sn_parking_wake_one(&c->parking, 1);
	assert_int_equal(starts, 1);
	assert_false(is_woken(c, 1));
}

static void a_sleeper_that_was_woken_does_not_retire(void **state)
{
	struct crowd *c = crowd_with_threadless(8, 0);

	(void)state;
	announce(c, 1, 2);
	sn_parking_wake_one(&c->parking, 0);
	assert_false(sn_parking_retire(c->sleepers[1]));
	assert_counts(c, 1, 0);
	assert_int_equal(a_load_rlx(&c->parking.threadless), 0);
	sn_parking_withdraw(c->sleepers[1]);
	assert_counts(c, 1, 0);
}

static void vacant_workers_may_be_struck_off(void **state)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	(void)state;
	announce(c, 0, 1);
	sn_parking_resize(&c->parking, 2, 0);
	assert_counts(c, 0, 1);
	sn_parking_resize(&c->parking, 5, 3);
	assert_counts(c, 0, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_threadless_worker_is_started_when_nobody_sleeps),
		cmocka_unit_test(a_sleeper_is_preferred_to_a_vacant_worker),
		cmocka_unit_test(
			a_vacant_worker_that_cannot_be_started_is_vacant_again),
		cmocka_unit_test(a_sleeper_that_retires_is_vacant),
		cmocka_unit_test(a_sleeper_that_was_woken_does_not_retire),
		cmocka_unit_test(vacant_workers_may_be_struck_off),
		cmocka_unit_test(a_new_crowd_is_awake_and_content),
		cmocka_unit_test(who_begins_asleep_can_be_woken),
		cmocka_unit_test(a_searcher_that_announces_becomes_a_sleeper),
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
		cmocka_unit_test(a_sleep_ends_at_its_deadline_not_before),
		cmocka_unit_test(an_old_wake_does_not_end_the_next_sleep),
		cmocka_unit_test(a_sleeping_thread_is_woken),
		cmocka_unit_test(who_is_claimed_waits_to_be_told),
	};

	alarm(300); /* ends a test that hangs after a lost wake */
	return cmocka_run_group_tests_name("parking", tests, NULL, NULL);
}
