/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_sync.c - misuse of semaphore, barrier, once. */
#include "misuse.h"

#include "crowd.h"

/* --- semaphores --------------------------------------------------------- */

static sennit_semaphore semaphore;

static void commit_init_too_many(const struct offence *o)
{
	(void)o;
	sennit_semaphore_init(&semaphore, SENNIT_SEMAPHORE_MAX + 1);
}

TEST_ALONE(a_semaphore_of_more_than_the_maximum)
{
	assert_misuse(w, "sennit_semaphore_init", commit_init_too_many);
}

static void commit_give_too_many(const struct offence *o)
{
	(void)o;
	sennit_semaphore_init(&semaphore, SENNIT_SEMAPHORE_MAX);
	sennit_semaphore_give(&semaphore, 1);
}

TEST_ALONE(giving_beyond_the_maximum)
{
	assert_misuse(w, "sennit_semaphore_give", commit_give_too_many);
}

static void commit_give_so_many_that_it_wraps(const struct offence *o)
{
	(void)o;
	sennit_semaphore_init(&semaphore, 5);
	sennit_semaphore_give(&semaphore, UINT32_MAX - 2);
}

TEST_ALONE(giving_so_many_that_it_wraps)
{
	assert_misuse(w, "sennit_semaphore_give",
		      commit_give_so_many_that_it_wraps);
}

static void take_all(void *argument)
{
	(void)!sennit_semaphore_take(argument, SENNIT_SEMAPHORE_MAX);
}

static void commit_give_too_many_to_a_waiter(const struct offence *o)
{
	sennit_semaphore_init(&semaphore, 1);
	must_schedule(take_all, &semaphore);
	EXPECT_SOON(waiting_for(o->s, &semaphore) == 1);
	sennit_semaphore_give(&semaphore, SENNIT_SEMAPHORE_MAX);
}

TEST_WITH_COUNTS(giving_beyond_the_maximum_while_one_waits)
{
	assert_misuse(w, "sennit_semaphore_give",
		      commit_give_too_many_to_a_waiter);
}

static void commit_take_too_many(const struct offence *o)
{
	(void)o;
	(void)!sennit_semaphore_take_until(&semaphore, SENNIT_SEMAPHORE_MAX + 1,
					   0);
}

TEST_ALONE(taking_more_than_there_can_be)
{
	assert_misuse(w, "sennit_semaphore_take", commit_take_too_many);
}

static void commit_destroy_semaphore(const struct offence *o)
{
	must_schedule(take_all, &semaphore);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_semaphore_destroy(&semaphore);
}

TEST_WITH_COUNTS(destroying_a_semaphore_that_is_waited_for)
{
	assert_misuse(w, "sennit_semaphore_destroy", commit_destroy_semaphore);
}

/* --- barriers ----------------------------------------------------------- */

static sennit_barrier barrier;

static void commit_no_parties(const struct offence *o)
{
	(void)o;
	sennit_barrier_init(&barrier, 0);
}

TEST_ALONE(a_barrier_for_nobody)
{
	assert_misuse(w, "sennit_barrier_init", commit_no_parties);
}

static void commit_too_many_parties(const struct offence *o)
{
	(void)o;
	sennit_barrier_init(&barrier, SENNIT_BARRIER_MAX + 1);
}

TEST_ALONE(a_barrier_for_too_many)
{
	assert_misuse(w, "sennit_barrier_init", commit_too_many_parties);
}

static void commit_wait_at_zero(const struct offence *o)
{
	(void)o;
	(void)sennit_barrier_wait(&barrier);
}

TEST_ALONE(waiting_at_a_barrier_that_was_not_made)
{
	assert_misuse(w, "sennit_barrier_wait", commit_wait_at_zero);
}

static void arrive(void *argument)
{
	(void)sennit_barrier_wait(argument);
}

static void commit_destroy_barrier(const struct offence *o)
{
	sennit_barrier_init(&barrier, 2);
	must_schedule(arrive, &barrier);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_barrier_destroy(&barrier);
}

TEST_WITH_COUNTS(destroying_a_barrier_that_is_waited_for)
{
	assert_misuse(w, "sennit_barrier_destroy", commit_destroy_barrier);
}

/* --- once --------------------------------------------------------------- */

static sennit_once once;

static void call_again(void *argument)
{
	sennit_once_call(argument, call_again, argument);
}

static int attempt_again(void *argument)
{
	return sennit_once_attempt_until(argument, attempt_again, argument, 0);
}

static void attempt(void *argument)
{
	(void)!attempt_again(argument);
}

static void commit_call_again(const struct offence *o)
{
	(void)o;
	in_a_task(call_again, &once);
}

TEST_WITH_COUNTS(calling_a_once_from_its_function)
{
	assert_misuse(w, "sennit_once_call", commit_call_again);
}

static void commit_attempt_again(const struct offence *o)
{
	(void)o;
	in_a_thread(attempt, &once);
}

TEST_WITH_COUNTS(attempting_a_once_from_its_function)
{
	assert_misuse(w, "sennit_once_attempt_until", commit_attempt_again);
}

static void destroy_once(void *argument)
{
	sennit_once_destroy(argument);
}

static void commit_destroy_once(const struct offence *o)
{
	(void)o;
	sennit_once_call(&once, destroy_once, &once);
}

TEST_ALONE(destroying_a_once_that_runs)
{
	assert_misuse(w, "sennit_once_destroy", commit_destroy_once);
}
