/* SPDX-License-Identifier: Apache-2.0 */
/* parking_sleep.c - how long workers sleep, and workers that have no thread. */
#include "parked_crowd.h"
#include "sennit/poller.h"

#include <pthread.h>
#include <unistd.h>

/* --- sleeping ------------------------------------------------------------ */

TEST(a_sleep_ends_at_its_deadline_not_before)
{
	struct crowd     *c = crowd_of(1);
	const sennit_time deadline = os_now() + 3 * SENNIT_MILLISECOND;

	announce(c, 0, 1);
	assert_false(sn_parking_sleep(c->sleepers[0], deadline));
	assert_true(os_now() >= deadline);
	assert_counts(c, 0, 1); /* asleep until it withdraws */
}

TEST(an_old_wake_does_not_end_the_next_sleep)
{
	struct crowd *c = crowd_of(2);

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

TEST(a_sleeping_thread_is_woken)
{
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
TEST(who_is_claimed_waits_to_be_told)
{
	struct crowd *c = crowd_of(2);
	struct night  n = { .sleeper = c->sleepers[1] };
	pthread_t     thread;

	announce(c, 1, 2);
	a_and_acqrel(&c->parking.idle[0], ~UINT64_C(2));
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

static void *withdraw_from_poller(void *argument)
{
	struct night *n = argument;

	(void)withdraw(n);
	a_store_rel(&n->awake, 2);
	return NULL;
}

static bool withdraws_soon(const struct night *n)
{
	const sennit_time give_up = os_now() + 20 * SENNIT_SECOND;

	while (a_load_acq(&n->awake) != 2 && os_now() < give_up)
		os_thread_yield();
	return a_load_acq(&n->awake) == 2;
}

/* The same where it has a poller: the token's futex is not woken. */
TEST(who_is_claimed_in_its_poller_gets_the_late_token)
{
	struct crowd *c = crowd_of(2);
	struct night  n = { .sleeper = c->sleepers[1] };
	sennit_poller poller = { .ops = NULL };
	pthread_t     thread;
	bool          withdrew;

	n.sleeper->poller = &poller;
	announce(c, 1, 2);
	a_and_acqrel(&c->parking.idle[0], ~UINT64_C(2));
	assert_int_equal(
		pthread_create(&thread, NULL, withdraw_from_poller, &n), 0);
	while (!a_load_acq(&n.awake))
		os_thread_yield();
	for (unsigned yields = 2000; yields; yields--)
		os_thread_yield();
	a_store_rel(&n.sleeper->token, 1);
	withdrew = withdraws_soon(&n);
	os_word_wake_one(&n.sleeper->token);
	pthread_join(thread, NULL);
	assert_true(withdrew);
}

/* --- workers without a thread ------------------------------------------- */

static uint32_t starts;

static void count_start(struct parking *p)
{
	starts++;
	sn_parking_resize(p, 8, a_load_rlx(&p->threadless) - 1, 1);
}

static struct crowd *crowd_with_threadless(uint32_t present,
					   uint32_t threadless)
{
	struct crowd *c = crowd_of(MOST);

	starts = 0;
	c->parking.start = count_start;
	sn_parking_resize(&c->parking, present, threadless, 0);
	return c;
}

TEST(a_threadless_worker_is_started_when_nobody_sleeps)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	assert_counts(c, 0, 6);
	sn_parking_wake_one(&c->parking, 0);
	assert_int_equal(starts, 1);
	assert_counts(c, 1, 5);
	sn_parking_wake_one(&c->parking, 0); /* the worker that is being started
					      * searches */
	assert_int_equal(starts, 1);
}

TEST(a_sleeper_is_preferred_to_a_vacant_worker)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	announce(c, 1, 2);
	sn_parking_wake_one(&c->parking, 0);
	assert_int_equal(starts, 0);
	assert_true(is_woken(c, 1));
	assert_counts(c, 1, 6);
}

TEST(a_vacant_worker_that_cannot_be_started_is_vacant_again)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	sn_parking_resize(&c->parking, 8, 5, 1);
	assert_counts(c, 1, 5);
	sn_parking_resize(&c->parking, 8, 6, -1);
	assert_counts(c, 0, 6);
	sn_parking_wake_one(&c->parking, 0);
	assert_int_equal(starts, 1);
}

TEST(a_sleeper_that_retires_is_vacant)
{
	struct crowd *c = crowd_with_threadless(8, 0);

	announce(c, 1, 2);
	assert_true(sn_parking_retire(c->sleepers[1]));
	assert_counts(c, 0, 1);
	sn_parking_wake_one(&c->parking, 1);
	assert_int_equal(starts, 1);
	assert_false(is_woken(c, 1));
}

TEST(a_sleeper_that_was_woken_does_not_retire)
{
	struct crowd *c = crowd_with_threadless(8, 0);

	announce(c, 1, 2);
	sn_parking_wake_one(&c->parking, 0);
	assert_false(sn_parking_retire(c->sleepers[1]));
	assert_counts(c, 1, 0);
	assert_int_equal(a_load_rlx(&c->parking.threadless), 0);
	sn_parking_withdraw(c->sleepers[1]);
	assert_counts(c, 1, 0);
}

TEST(vacant_workers_may_be_struck_off)
{
	struct crowd *c = crowd_with_threadless(8, 6);

	announce(c, 0, 1);
	sn_parking_resize(&c->parking, 2, 0, 0);
	assert_counts(c, 0, 1);
	sn_parking_resize(&c->parking, 5, 3, 0);
	assert_counts(c, 0, 4);
}

static int begin_all(void)
{
	alarm(300); /* ends a test that hangs after a lost wake */
	return 0;
}

BEFORE_ALL(begin_all);
