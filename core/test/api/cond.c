/* SPDX-License-Identifier: Apache-2.0 */
/* cond.c - condition variables: notifies and deadlines. lock_fairness.c has
 * their order. */
#include "testing/crowd.h"

#include <errno.h>

/* Tokens: each waiter takes one. The lock protects everything below it. */
struct shop {
	sennit_mutex lock;
	sennit_cond  stocked;
	sennit_time  deadline;
	unsigned     tokens;
	unsigned     waiting;
	unsigned     served;
	unsigned     empty_handed;
};

static bool has_tokens(void *argument)
{
	return ((struct shop *)argument)->tokens > 0;
}

/* A thread that sees `waiting` under the lock sees that many in the queue,
 * because each of them releases the lock only by waiting. */
static void buy(void *argument)
{
	struct shop *s = argument;

	sennit_mutex_lock(&s->lock);
	s->waiting++;
	while (!s->tokens)
		EXPECT(!sennit_cond_wait(&s->stocked, &s->lock));
	s->tokens--;
	s->served++;
	sennit_mutex_unlock(&s->lock);
}

static void buy_in_time(void *argument)
{
	struct shop *s = argument;

	sennit_mutex_lock(&s->lock);
	s->waiting++;
	if (!sennit_cond_wait_until_true(&s->stocked, &s->lock, has_tokens, s,
					 s->deadline)) {
		s->tokens--;
		s->served++;
	} else {
		s->empty_handed++;
	}
	sennit_mutex_unlock(&s->lock);
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
	struct shop  s = { .tokens = 0 };
	struct crowd c = {
		.run = buy, .argument = &s, .tasks = 4, .unbound = 4
	};

	gather(&c);
	assert_soon(look(&s, &s.waiting) == 8);
	stock(&s, 8);
	for (unsigned i = 0; i < 8; i++)
		sennit_cond_notify_one(&s.stocked);
	disperse(&c);
	assert_int_equal(s.served, 8);
	sennit_cond_destroy(&s.stocked);
}

TEST_WITH_WORKERS(notify_all_wakes_fibers_and_threads)
{
	struct shop  s = { .tokens = 0 };
	struct crowd c = {
		.run = buy, .argument = &s, .tasks = 100, .unbound = 8
	};

	gather(&c);
	assert_soon(look(&s, &s.waiting) == 108);
	stock(&s, 108);
	sennit_cond_notify_all(&s.stocked);
	disperse(&c);
	assert_int_equal(s.served, 108);
}

TEST_WITH_WORKERS(notify_without_waiters_is_not_remembered)
{
	struct shop s = { .tokens = 0 };
	int         err;

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
	EXPECT(sennit_cond_wait_until_true(&s->stocked, &s->lock, has_tokens, s,
					   soon) == -ETIMEDOUT);
	EXPECT(sennit_cond_wait_until_true(&s->stocked, &s->lock, has_tokens, s,
					   0) == -ETIMEDOUT);
	sennit_mutex_unlock(&s->lock); /* fails if it is not held */
}

TEST_WITH_WORKERS(at_the_deadline_the_lock_is_held_again)
{
	struct shop s = { .tokens = 0 };

	in_each_place(wait_in_vain, &s);
	sennit_cond_destroy(&s.stocked); /* fails if there is a waiter */
}

static void find_it_true(void *argument)
{
	struct shop *s = argument;

	sennit_mutex_lock(&s->lock);
	EXPECT(!sennit_cond_wait_until_true(&s->stocked, &s->lock, has_tokens,
					    s, 0));
	EXPECT(!sennit_cond_wait_until_true(&s->stocked, &s->lock, has_tokens,
					    s, SENNIT_NEVER));
	sennit_mutex_unlock(&s->lock);
}

TEST_WITH_WORKERS(a_condition_that_holds_needs_no_wait)
{
	struct shop s = { .tokens = 0 };

	s.tokens = 1;
	in_each_place(find_it_true, &s);
}

/* Symptom: a wait whose condition became true in time returned false, because
 * the lock was handed over late. */
TEST_WITH_WORKERS(true_after_the_deadline_is_still_true)
{
	struct shop  s = { .deadline = sennit_after(2 * SENNIT_MILLISECOND) };
	struct crowd c = { .run = buy_in_time, .argument = &s, .tasks = 1 };

	gather(&c);
	assert_soon(look(&s, &s.waiting) == 1);
	sennit_mutex_lock(&s.lock);
	s.tokens = s.served + s.empty_handed ? 0 : 1;
	while (sennit_now() < s.deadline + SENNIT_MILLISECOND)
		sennit_yield();
	sennit_mutex_unlock(&s.lock);
	disperse(&c);
	assert_int_equal(s.served + s.empty_handed, 1);
	assert_int_equal(s.tokens, 0);
}
