/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - add, done, wait; several waiters, reuse, deadlines.
 */
#include "with_workers.h"

#include <errno.h>

static void try_counting(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)argument;
	sennit_wait_group_wait(&g); /* returns at once */
	EXPECT(sennit_wait_group_wait_until(&g, 0) == 0);
	sennit_wait_group_add(&g, 3);
	EXPECT(sennit_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(!sennit_wait_group_done(&g));
	EXPECT(!sennit_wait_group_done(&g));
	EXPECT(sennit_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(sennit_wait_group_done(&g));
	sennit_wait_group_wait(&g);
	sennit_wait_group_add(&g, 1); /* reused */
	EXPECT(sennit_wait_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(sennit_wait_group_done(&g));
	sennit_wait_group_wait(&g);
	sennit_wait_group_destroy(&g);
}

static void try_limits(void *argument)
{
	sennit_wait_group g;

	(void)argument;
	sennit_wait_group_init(&g, SENNIT_WAIT_GROUP_MAX - 1);
	sennit_wait_group_add(&g, 1);
	sennit_wait_group_add(&g, 0);
	EXPECT(!sennit_wait_group_done(&g));
	EXPECT(sennit_wait_group_wait_until(&g, 1) == -ETIMEDOUT);
}

static void try_deadline(void *argument)
{
	sennit_wait_group g;
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);

	(void)argument;
	sennit_wait_group_init(&g, 1);
	EXPECT(sennit_wait_group_wait_until(&g, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_wait_group_wait_until(&g, soon) == -ETIMEDOUT);
	EXPECT(sennit_wait_group_done(&g));
	EXPECT(sennit_wait_group_wait_until(&g, soon) == 0);
}

TEST_WITH_WORKERS(it_counts)
{
	in_each_place(try_counting, NULL);
}

TEST_WITH_WORKERS(it_counts_up_to_its_maximum)
{
	in_each_place(try_limits, NULL);
}

TEST_WITH_WORKERS(a_wait_times_out_never_before_its_deadline)
{
	in_each_place(try_deadline, NULL);
}

/* --- many done calls, many waiters -------------------------------------- */

struct crowd {
	sennit_wait_group work;
	sennit_wait_group gathered;
	sennit_wait_group gone;
	sennit_time       deadline;
	atomic_uint       worked;
	atomic_uint       last;
	atomic_uint       released;
	atomic_uint       early;
};

static void work(void *argument)
{
	struct crowd *c = argument;

	atomic_fetch_add(&c->worked, 1);
	if (sennit_wait_group_done(&c->work))
		atomic_fetch_add(&c->last, 1);
}

static void wait_for_work(void *argument)
{
	struct crowd *c = argument;

	sennit_wait_group_done(&c->gathered);
	EXPECT(sennit_wait_group_wait_until(&c->work, c->deadline) == 0);
	if (atomic_load(&c->worked) < 500)
		atomic_fetch_add(&c->early, 1);
	atomic_fetch_add(&c->released, 1);
	sennit_wait_group_done(&c->gone);
}

static void *wait_for_work_as_thread(void *argument)
{
	wait_for_work(argument);
	return NULL;
}

static void crowd_waits(sennit_time deadline)
{
	struct crowd c = { .deadline = deadline };
	pthread_t    threads[5];
	unsigned     i;

	sennit_wait_group_init(&c.work, 500);
	sennit_wait_group_init(&c.gathered, 25);
	sennit_wait_group_init(&c.gone, 25);
	for (i = 0; i < 5; i++)
		threads[i] = must_start_thread(wait_for_work_as_thread, &c);
	for (i = 0; i < 20; i++)
		must_schedule(wait_for_work, &c);
	sennit_wait_group_wait(&c.gathered);
	for (i = 0; i < 500; i++)
		must_schedule(work, &c);
	sennit_wait_group_wait(&c.work);
	sennit_wait_group_wait(&c.gone);
	for (i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	assert_soon(atomic_load(&c.last) == 1); /* recorded after done */
	assert_int_equal(atomic_load(&c.released), 25);
	assert_int_equal(atomic_load(&c.early), 0);
}

TEST_WITH_WORKERS(reaching_zero_releases_all_who_wait)
{
	crowd_waits(SENNIT_NEVER);
}

TEST_WITH_WORKERS(reaching_zero_releases_those_with_deadlines)
{
	crowd_waits(sennit_after(100 * SENNIT_SECOND));
}

/* --- reuse -------------------------------------------------------------- */

static void count_done(void *argument)
{
	sennit_wait_group_done(argument);
}

TEST_WITH_WORKERS(it_may_be_used_again_at_once)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;
	unsigned          round, i;

	for (round = 0; round < 500; round++) {
		sennit_wait_group_add(&g, 4);
		for (i = 0; i < 4; i++)
			must_schedule(count_done, &g);
		sennit_wait_group_wait(&g);
		assert_int_equal(sennit_wait_group_wait_until(&g, 0), 0);
	}
}

static void add_and_delegate(void *argument)
{
	sennit_wait_group *g = argument;
	unsigned           i;

	sennit_wait_group_add(g, 10);
	for (i = 0; i < 10; i++)
		must_schedule(count_done, g);
	sennit_wait_group_done(g);
}

TEST_WITH_WORKERS(a_task_may_add_before_it_is_done)
{
	sennit_wait_group g;
	unsigned          round;

	for (round = 0; round < 100; round++) {
		sennit_wait_group_init(&g, 1);
		must_schedule(add_and_delegate, &g);
		sennit_wait_group_wait(&g);
	}
}

static void give_up_early(void *argument)
{
	EXPECT(sennit_wait_group_wait_until(argument,
					    sennit_after(SENNIT_MILLISECOND)) ==
	       -ETIMEDOUT);
}

TEST_WITH_WORKERS(who_timed_out_is_no_longer_waiting)
{
	sennit_wait_group g;

	sennit_wait_group_init(&g, 1);
	in_each_place(give_up_early, &g);
	assert_true(sennit_wait_group_done(&g));
	sennit_wait_group_wait(&g);
	sennit_wait_group_destroy(&g); /* fails if there is a waiter */
}
