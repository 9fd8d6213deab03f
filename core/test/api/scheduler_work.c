/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_work.c - the end of a scheduler waits for all of its work. */
#include "scheduler_life.h"

TEST_WITH_THREAD_COUNTS(queued_tasks_run_before_the_end)
{
	struct life l;

	begin_life(&l, w);
	for (unsigned i = 0; i < 1000; i++)
		must_enqueue(&l, count_run);
	sennit_scheduler_release(l.s);
	assert_soon(atomic_load(&l.ends) == 1);
	assert_int_equal(atomic_load(&l.ran), 1000);
}

static void branch_out(void *argument)
{
	struct life *l = argument;

	if (atomic_fetch_add(&l->ran, 1) < 500) {
		must_schedule(branch_out, l);
		must_schedule(branch_out, l);
	}
}

/* Symptom: tasks that were scheduled by tasks during the end were lost. */
TEST_WITH_THREAD_COUNTS(what_tasks_schedule_runs_before_the_end)
{
	struct life l;

	for (unsigned i = 0; i < 20; i++) {
		begin_life(&l, w);
		must_enqueue(&l, branch_out);
		end_scheduler(l.s);
		/* The root, and two children of each of the first 500. */
		assert_int_equal(atomic_load(&l.ran), 1001);
	}
}

TEST_WITH_THREAD_COUNTS(blocked_fibers_finish_before_the_end)
{
	struct life l;

	begin_life(&l, w);
	for (unsigned i = 0; i < LOAD(1000); i++)
		must_enqueue(&l, wait_and_count);
	must_enqueue(&l, set_go);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&l.ran), LOAD(1000));
}

static void sleep_and_count(void *argument)
{
	sennit_sleep(2 * SENNIT_MILLISECOND);
	count_run(argument);
}

TEST_WITH_THREAD_COUNTS(sleeping_fibers_finish_before_the_end)
{
	struct life l;

	begin_life(&l, w);
	for (unsigned i = 0; i < 100; i++)
		must_enqueue(&l, sleep_and_count);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&l.ran), 100);
}

TEST_WITH_THREAD_COUNTS(a_fiber_woken_from_outside_finishes_before_the_end)
{
	struct life l;

	begin_life(&l, w);
	must_enqueue(&l, wait_and_count);
	assert_soon(fibers_of(l.s) == 1);
	sennit_scheduler_release(l.s);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_event_set(&l.go);
	assert_soon(atomic_load(&l.ends) == 1);
	assert_int_equal(atomic_load(&l.ran), 1);
}

static void *stay_bound_until_go(void *argument)
{
	struct life *l = argument;

	EXPECT(sennit_thread_bind(l->s) == 0);
	atomic_fetch_add(&l->ran, 1);
	EXPECT(!sennit_event_wait(&l->go));
	atomic_fetch_add(&l->ran, 1);
	sennit_thread_unbind();
	return NULL;
}

TEST_WITH_COUNTS(bound_threads_are_waited_for)
{
	struct life l;
	pthread_t   bound, other;

	begin_life(&l, w);
	bound = must_start_thread(stay_bound_until_go, &l);
	assert_soon(atomic_load(&l.ran) == 1);
	other = must_start_thread(let_go, &l);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&l.ran), 2);
	pthread_join(bound, NULL);
	pthread_join(other, NULL);
}
