/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_limit.c - the limits on blocking threads that the library chooses
 * from the limit that the system reports.
 *
 * This file replaces getrlimit by one that returns a chosen limit.
 */
#include "testing/told_limit.h"
#include "testing/with_workers.h"

#include <errno.h>
#include <semaphore.h>

static struct hold {
	sem_t             go;
	atomic_uint       begun, refused;
	sennit_wait_group done;
} hold;

static void *block(void *argument)
{
	atomic_fetch_add(&hold.begun, 1);
	while (sem_wait(&hold.go))
		;
	return argument;
}

static void call_block(void *argument)
{
	sennit_blocking_call(block, argument);
	sennit_wait_group_done(&hold.done);
}

/* A call that must begin at once waits for no thread, so none is added. */
static void call_block_at_once(void *argument)
{
	int err = sennit_blocking_call_until(block, argument, NULL, 0);

	EXPECT(!err || err == -ETIMEDOUT);
	atomic_fetch_add(&hold.refused, err != 0);
	sennit_wait_group_done(&hold.done);
}

enum { CALLS = 30 };

/* Schedule CALLS tasks while the system allows `most` threads. */
static sennit_scheduler *begin_calls(const struct world *w, unsigned long most,
				     uint32_t limit, sennit_task_fn *run)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .max_blocking_threads = limit));

	atomic_store(&most_threads, most);
	sem_init(&hold.go, 0, 0);
	atomic_store(&hold.begun, 0);
	atomic_store(&hold.refused, 0);
	sennit_wait_group_init(&hold.done, CALLS);
	assert_int_equal(sennit_thread_bind(s), 0);
	for (unsigned i = 0; i < CALLS; i++)
		must_schedule(run, NULL);
	return s;
}

static void end_calls(sennit_scheduler *s)
{
	for (unsigned i = 0; i < CALLS; i++)
		sem_post(&hold.go);
	sennit_wait_group_wait(&hold.done);
	sennit_thread_unbind();
	end_scheduler(s);
}

/* The number of 30 calls that begin at once with this limit on threads. */
static void assert_share(const struct world *w, unsigned long most,
			 uint32_t limit, unsigned share)
{
	sennit_scheduler *s = begin_calls(w, most, limit, call_block_at_once);

	assert_soon(atomic_load(&hold.begun) + atomic_load(&hold.refused) ==
		    CALLS);
	assert_int_equal(atomic_load(&hold.begun), share);
	assert_int_equal(stats_of(s).blocking_threads, share);
	end_calls(s);
}

/* The number of 30 calls that begin if they all wait for each other. Where
 * there could be more threads, 50 ms without a further one would not pass. */
static void assert_most(const struct world *w, unsigned long most,
			uint32_t limit, unsigned begin)
{
	sennit_scheduler *s = begin_calls(w, most, limit, call_block);

	assert_soon(atomic_load(&hold.begun) == begin);
	assert_soon(stats_of(s).blocking_waiting == CALLS - begin);
	if (begin < CALLS)
		assert_soon(stats_of(s).blocking_stuck_ms >= 50);
	assert_int_equal(atomic_load(&hold.begun), begin);
	assert_int_equal(stats_of(s).blocking_threads, begin);
	end_calls(s);
	assert_int_equal(atomic_load(&hold.begun), CALLS);
}

TEST_WITH_COUNTS(a_quarter_of_what_the_system_allows)
{
	assert_share(w, 80, 0, 20);
}

TEST_WITH_COUNTS(eight_at_least)
{
	assert_share(w, 3, 0, 8);
}

TEST_WITH_COUNTS(as_many_as_are_needed_where_the_system_allows)
{
	assert_share(w, 4 * CALLS, 0, CALLS);
}

TEST_WITH_COUNTS(what_the_program_asks_for_is_not_questioned)
{
	assert_share(w, 3, 12, 12);
}

TEST_WITH_COUNTS(half_of_what_the_system_allows_if_they_wait_for_each_other)
{
	assert_most(w, 40, 0, 20);
}

TEST_WITH_COUNTS(eight_in_any_case_if_they_wait_for_each_other)
{
	assert_most(w, 3, 0, 8);
}

TEST_WITH_COUNTS(all_of_them_where_the_system_allows)
{
	assert_most(w, 80, 0, CALLS);
}

TEST_WITH_COUNTS(no_more_than_the_program_asks_for)
{
	assert_most(w, 1000, 12, 12);
}
