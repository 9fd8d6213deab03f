/* SPDX-License-Identifier: Apache-2.0 */
/* cond.c - condition variables: no notify is lost, the oldest waiter comes
 * first, deadlines. */
#include "with_workers.h"

#include <errno.h>

/* Tokens: each waiter takes one. The lock protects everything below it. */
struct shop {
	sennit_mutex      lock;
	sennit_cond       stocked;
	sennit_wait_group done;
	sennit_time       deadline;
	unsigned          tokens;
	unsigned          waiting;
	unsigned          served;
	unsigned          empty_handed;
	unsigned          order[64];
};

static void open_shop(struct shop *s, unsigned customers)
{
	memset(s, 0, sizeof(*s));
	sennit_wait_group_init(&s->done, customers);
	s->deadline = SENNIT_NEVER;
}

static bool has_tokens(void *argument)
{
	return ((struct shop *)argument)->tokens > 0;
}

/* A thread that sees `waiting` under the lock sees that many in the queue,
 * because each of them releases the lock only by waiting. */
static void buy(void *argument)
{
	struct shop *s = argument;
	unsigned     mine;

	sennit_mutex_lock(&s->lock);
	mine = s->waiting++;
	while (!s->tokens)
		EXPECT(!sennit_cond_wait(&s->stocked, &s->lock));
	s->tokens--;
	s->order[s->served++ % 64] = mine;
	sennit_mutex_unlock(&s->lock);
	sennit_wait_group_done(&s->done);
}

static void buy_in_time(void *argument)
{
	struct shop *s = argument;

	sennit_mutex_lock(&s->lock);
	s->waiting++;
	if (sennit_cond_wait_for(&s->stocked, &s->lock, has_tokens, s,
				 s->deadline)) {
		s->tokens--;
		s->served++;
	} else {
		s->empty_handed++;
	}
	sennit_mutex_unlock(&s->lock);
	sennit_wait_group_done(&s->done);
}

static void *buy_as_thread(void *argument)
{
	buy(argument);
	return NULL;
}

/* Read a field under the lock. */
static unsigned look(struct shop *s, const unsigned *field)
{
	unsigned value;

	sennit_mutex_lock(&s->lock);
	value = *field;
	sennit_mutex_unlock(&s->lock);
	return value;
}

static void stock(struct shop *s, unsigned tokens)
{
	sennit_mutex_lock(&s->lock);
	s->tokens += tokens;
	sennit_mutex_unlock(&s->lock);
}

/* --- notify ------------------------------------------------------------- */

/* Symptom: two notifies in a row chose the same waiter. */
TEST_WITH_WORKERS(as_many_wake_as_are_notified)
{
	struct shop s;
	pthread_t   threads[4];
	unsigned    i;

	open_shop(&s, 8);
	for (i = 0; i < 4; i++) {
		must_schedule(buy, &s);
		threads[i] = must_start_thread(buy_as_thread, &s);
	}
	assert_soon(look(&s, &s.waiting) == 8);
	stock(&s, 8);
	for (i = 0; i < 8; i++)
		sennit_cond_notify_one(&s.stocked);
	sennit_wait_group_wait(&s.done);
	assert_int_equal(s.served, 8);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	sennit_cond_destroy(&s.stocked);
}

TEST_WITH_WORKERS(notified_under_the_lock_they_wake_too)
{
	struct shop s;
	unsigned    i;

	open_shop(&s, 8);
	for (i = 0; i < 8; i++)
		must_schedule(buy, &s);
	assert_soon(look(&s, &s.waiting) == 8);
	sennit_mutex_lock(&s.lock);
	s.tokens = 8;
	for (i = 0; i < 8; i++)
		sennit_cond_notify_one(&s.stocked);
	sennit_mutex_unlock(&s.lock);
	sennit_wait_group_wait(&s.done);
	assert_int_equal(s.served, 8);
}

TEST_WITH_WORKERS(notify_one_wakes_the_longest_waiter)
{
	struct shop s;
	unsigned    i;

	open_shop(&s, 10);
	for (i = 0; i < 10; i++) {
		must_schedule(buy, &s);
		assert_soon(look(&s, &s.waiting) == i + 1);
	}
	for (i = 0; i < 10; i++) {
		stock(&s, 1);
		sennit_cond_notify_one(&s.stocked);
		assert_soon(look(&s, &s.served) == i + 1);
		assert_int_equal(s.order[i], i);
	}
	sennit_wait_group_wait(&s.done);
}

TEST_WITH_WORKERS(notify_all_wakes_fibers_and_threads)
{
	struct shop s;
	pthread_t   threads[10];
	unsigned    i;

	open_shop(&s, 110);
	for (i = 0; i < 100; i++)
		must_schedule(buy, &s);
	for (i = 0; i < 10; i++)
		threads[i] = must_start_thread(buy_as_thread, &s);
	assert_soon(look(&s, &s.waiting) == 110);
	stock(&s, 110);
	sennit_cond_notify_all(&s.stocked);
	sennit_wait_group_wait(&s.done);
	assert_int_equal(s.served, 110);
	for (i = 0; i < 10; i++)
		pthread_join(threads[i], NULL);
}

TEST_WITH_WORKERS(notify_without_waiters_is_not_remembered)
{
	struct shop s;
	int         err;

	open_shop(&s, 0);
	sennit_cond_notify_one(&s.stocked);
	sennit_cond_notify_all(&s.stocked);
	sennit_mutex_lock(&s.lock);
	err = sennit_cond_wait_until(&s.stocked, &s.lock,
				     sennit_after(SENNIT_MILLISECOND));
	sennit_mutex_unlock(&s.lock);
	assert_int_equal(err, -ETIMEDOUT);
}

/* --- deadlines ---------------------------------------------------------- */

static void wait_in_vain(void *argument)
{
	struct shop      *s = argument;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	sennit_mutex_lock(&s->lock);
	EXPECT(sennit_cond_wait_until(&s->stocked, &s->lock, soon) ==
	       -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_cond_wait_until(&s->stocked, &s->lock, 0) == -ETIMEDOUT);
	EXPECT(!sennit_cond_wait_for(&s->stocked, &s->lock, has_tokens, s,
				     soon));
	EXPECT(!sennit_cond_wait_for(&s->stocked, &s->lock, has_tokens, s, 0));
	sennit_mutex_unlock(&s->lock); /* fails if it is not held */
}

TEST_WITH_WORKERS(at_the_deadline_the_lock_is_held_again)
{
	struct shop s;

	open_shop(&s, 0);
	in_each_place(wait_in_vain, &s);
	sennit_cond_destroy(&s.stocked); /* fails if there is a waiter */
}

static void find_it_true(void *argument)
{
	struct shop *s = argument;

	sennit_mutex_lock(&s->lock);
	EXPECT(sennit_cond_wait_for(&s->stocked, &s->lock, has_tokens, s, 0));
	EXPECT(sennit_cond_wait_for(&s->stocked, &s->lock, has_tokens, s,
				    SENNIT_NEVER));
	sennit_mutex_unlock(&s->lock);
}

TEST_WITH_WORKERS(a_condition_that_holds_needs_no_wait)
{
	struct shop s;

	open_shop(&s, 0);
	s.tokens = 1;
	in_each_place(find_it_true, &s);
}

/* Symptom: a wait whose condition became true in time returned false, because
 * the lock was handed over late. */
TEST_WITH_WORKERS(true_after_the_deadline_is_still_true)
{
	struct shop s;

	open_shop(&s, 1);
	s.deadline = sennit_after(2 * SENNIT_MILLISECOND);
	must_schedule(buy_in_time, &s);
	assert_soon(look(&s, &s.waiting) == 1);
	sennit_mutex_lock(&s.lock);
	s.tokens = s.served + s.empty_handed ? 0 : 1;
	while (sennit_now() < s.deadline + SENNIT_MILLISECOND)
		sennit_yield();
	sennit_mutex_unlock(&s.lock);
	sennit_wait_group_wait(&s.done);
	assert_int_equal(s.served + s.empty_handed, 1);
	assert_int_equal(s.tokens, 0);
}

TEST_WITH_WORKERS(those_notified_are_served_and_the_rest_time_out)
{
	struct shop s;
	unsigned    i;

	open_shop(&s, 40);
	s.deadline = sennit_after(3 * SENNIT_MILLISECOND);
	stock(&s, 5);
	for (i = 0; i < 40; i++)
		must_schedule(buy_in_time, &s);
	stock(&s, 5);
	sennit_cond_notify_all(&s.stocked);
	sennit_wait_group_wait(&s.done);
	assert_int_equal(s.served + s.empty_handed, 40);
	assert_int_equal(s.served + s.tokens, 10);
}
