/* SPDX-License-Identifier: Apache-2.0 */
/* priorities_threads.c - on which threads background tasks run, and that all
 * of them run before workers or the scheduler end. */
#include "rendezvous.h"

/* --- on which thread ---------------------------------------------------- */

enum { MANY = 300 };

static void run_elsewhere(void *argument)
{
	struct pile *p = argument;

	EXPECT(!pthread_equal(p->stranger, pthread_self()));
	run_one(p);
}

static void schedule_many_late(void *argument)
{
	struct pile *p = argument;

	for (int i = 0; i < LOAD(MANY); i++)
		must_schedule_late(run_one, p);
}

TEST_WITH_WORKERS(they_all_run_wherever_they_come_from)
{
	struct pile p = { .ran = 0 };

	sennit_wait_group_init(&p.done, 2 * LOAD(MANY));
	schedule_many_late(&p);
	in_a_task(schedule_many_late, &p);
	sennit_wait_group_wait(&p.done);
	assert_int_equal(atomic_load(&p.ran), 2 * LOAD(MANY));
}

static void enqueue_many_late(void *argument)
{
	struct pile      *p = argument;
	const sennit_task t = { .run = run_elsewhere,
				.argument = p,
				.flags = SENNIT_TASK_BACKGROUND };

	for (int i = 0; i < LOAD(MANY); i++)
		EXPECT(sennit_schedule_task_on(p->s, &t) == 0);
}

TEST_WITH_THREADS(with_workers_bound_threads_run_none)
{
	struct pile p = { .s = w->s, .stranger = pthread_self() };

	sennit_wait_group_init(&p.done, 2 * LOAD(MANY));
	enqueue_many_late(&p);
	in_a_thread(enqueue_many_late, &p);
	sennit_wait_group_wait(&p.done);
}

static void wait_in_the_background(void *argument)
{
	struct pile    *p = argument;
	const pthread_t here = pthread_self();

	EXPECT(!sennit_event_wait(&p->go));
	EXPECT(pthread_equal(here, pthread_self()));
	run_one(p);
}

TEST_WITH_WORKERS(they_may_wait)
{
	struct pile p = { .s = w->s };

	sennit_wait_group_init(&p.done, SOME);
	for (int i = 0; i < SOME; i++)
		must_schedule_late(wait_in_the_background, &p);
	assert_soon(fibers_of(w->s) >= SOME);
	sennit_event_set(&p.go);
	sennit_wait_group_wait(&p.done);
}

/* --- ends --------------------------------------------------------------- */

static atomic_uint ran_at_the_end;

static void count_at_the_end(void *argument)
{
	const sennit_task t = { .run = count_at_the_end,
				.flags = SENNIT_TASK_BACKGROUND };

	atomic_fetch_add(&ran_at_the_end, 1);
	if (argument)
		EXPECT(sennit_schedule_task(&t) == 0);
}

TEST_WITH_COUNTS(a_scheduler_runs_them_before_it_ends)
{
	const sennit_task t = { .run = count_at_the_end,
				.argument = &ran_at_the_end,
				.flags = SENNIT_TASK_BACKGROUND };

	for (int round = 0; round < 20; round++) {
		sennit_scheduler *s = start_scheduler(w->workers);

		atomic_store(&ran_at_the_end, 0);
		assert_int_equal(sennit_thread_bind(s), 0);
		for (int i = 0; i < SOME; i++)
			assert_int_equal(sennit_schedule_task(&t), 0);
		sennit_thread_unbind();
		end_scheduler(s);
		assert_int_equal(atomic_load(&ran_at_the_end), 2 * SOME);
	}
}

TEST_IN_WORLDS(workers_that_start_late_start_for_them,
	       IN_WORLD(workers_that_start_late_start_for_them, "_w2",
			open_count, close_count, 2),
	       IN_WORLD(workers_that_start_late_start_for_them, "_w8",
			open_count, close_count, 3))
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .start = SENNIT_START_LAZY));
	struct pile p = { .s = s, .stranger = pthread_self() };

	sennit_wait_group_init(&p.done, LOAD(MANY));
	enqueue_many_late(&p);
	sennit_wait_group_wait(&p.done);
	end_scheduler(s);
}

TEST_WITH_SEVERAL(they_outlive_workers_that_are_taken_away)
{
	struct pile p = { .s = w->s, .stranger = pthread_self() };

	sennit_wait_group_init(&p.done, 10 * LOAD(MANY));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(sennit_scheduler_set_workers(
					 w->s, i % 2 ? w->threads : 1),
				 0);
		enqueue_many_late(&p);
	}
	sennit_wait_group_wait(&p.done);
}
