/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - manual and auto events, with and without deadlines. */
#include "with_workers.h"

#include <errno.h>

/* Waiters, and the results of their waits. */
struct scene {
	sennit_event      event;
	sennit_wait_group gathered;
	sennit_wait_group done;
	atomic_uint       released;
	atomic_uint       late;
	sennit_time       deadline;
};

static void set_scene(struct scene *c, enum sennit_event_mode mode,
		      unsigned waiters)
{
	memset(c, 0, sizeof(*c));
	sennit_event_init(&c->event, mode, false);
	sennit_wait_group_init(&c->gathered, waiters);
	sennit_wait_group_init(&c->done, waiters);
	c->deadline = SENNIT_NEVER;
}

static void wait_in_scene(void *argument)
{
	struct scene *c = argument;

	sennit_wait_group_done(&c->gathered);
	if (sennit_event_wait_until(&c->event, c->deadline))
		atomic_fetch_add(&c->late, 1);
	else
		atomic_fetch_add(&c->released, 1);
	sennit_wait_group_done(&c->done);
}

static void *wait_in_scene_as_thread(void *argument)
{
	wait_in_scene(argument);
	return NULL;
}

/* --- one caller, in each place ------------------------------------------ */

static void try_manual(void *argument)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	(void)argument;
	EXPECT(!sennit_event_is_set(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_set(&e);
	EXPECT(sennit_event_is_set(&e));
	EXPECT(!sennit_event_wait(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == 0);
	EXPECT(sennit_event_is_set(&e));
	sennit_event_clear(&e);
	EXPECT(!sennit_event_is_set(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_destroy(&e);
}

static void try_auto(void *argument)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);

	(void)argument;
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_set(&e);
	sennit_event_set(&e);
	EXPECT(sennit_event_is_set(&e));
	EXPECT(sennit_event_is_set(&e));
	EXPECT(!sennit_event_wait(&e));
	EXPECT(!sennit_event_is_set(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_set(&e);
	sennit_event_clear(&e);
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_destroy(&e);
}

static void try_zero_and_initially_set(void *argument)
{
	sennit_event zero, set;

	(void)argument;
	memset(&zero, 0, sizeof(zero));
	EXPECT(!sennit_event_is_set(&zero));
	sennit_event_set(&zero);
	EXPECT(!sennit_event_wait(&zero));
	EXPECT(sennit_event_is_set(&zero)); /* zeros are a manual event */
	sennit_event_init(&set, SENNIT_EVENT_AUTO, true);
	EXPECT(sennit_event_is_set(&set));
	EXPECT(sennit_event_wait_until(&set, SENNIT_NEVER) == 0);
	EXPECT(!sennit_event_is_set(&set));
	sennit_event_init(&set, SENNIT_EVENT_MANUAL, true);
	EXPECT(!sennit_event_wait(&set));
	EXPECT(sennit_event_is_set(&set));
}

static void try_deadline(void *argument)
{
	sennit_event      e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);

	(void)argument;
	EXPECT(sennit_event_wait_until(&e, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_event_wait_until(&e, soon) == -ETIMEDOUT); /* in the
								  * past */
	EXPECT(sennit_event_wait_until(&e, 1) == -ETIMEDOUT);
	sennit_event_set(&e);
	EXPECT(sennit_event_wait_until(&e, 1) == 0); /* set: the deadline does
						      * not matter */
	EXPECT(!sennit_event_is_set(&e));
}

TEST_WITH_WORKERS(a_manual_event_stays_set_until_cleared)
{
	in_each_place(try_manual, NULL);
}

TEST_WITH_WORKERS(an_auto_event_lets_one_through_and_counts_once)
{
	in_each_place(try_auto, NULL);
}

TEST_WITH_WORKERS(all_zero_is_manual_and_not_set)
{
	in_each_place(try_zero_and_initially_set, NULL);
}

TEST_WITH_WORKERS(a_wait_times_out_never_before_its_deadline)
{
	in_each_place(try_deadline, NULL);
}

/* --- many waiters ------------------------------------------------------- */

/* Fibers and unbound threads. */
static void gather(struct scene *c, unsigned fibers, pthread_t *threads,
		   unsigned thread_count)
{
	unsigned i;

	for (i = 0; i < fibers; i++)
		must_schedule(wait_in_scene, c);
	for (i = 0; i < thread_count; i++)
		threads[i] = must_start_thread(wait_in_scene_as_thread, c);
	sennit_wait_group_wait(&c->gathered);
}

TEST_WITH_WORKERS(a_manual_event_releases_all)
{
	struct scene c;
	pthread_t    threads[10];
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_MANUAL, 110);
	gather(&c, 100, threads, 10);
	sennit_event_set(&c.event);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.released), 110);
	for (i = 0; i < 10; i++)
		pthread_join(threads[i], NULL);
}

/* Symptom of a lost wake: set four times, but fewer waiters released. */
TEST_WITH_WORKERS(an_auto_event_releases_one_per_set)
{
	struct scene c;
	pthread_t    threads[10];
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_AUTO, 30);
	gather(&c, 20, threads, 10);
	for (i = 1; i <= 30; i++) {
		sennit_event_set(&c.event);
		assert_soon(atomic_load(&c.released) == i);
		assert_false(sennit_event_is_set(&c.event));
	}
	sennit_wait_group_wait(&c.done);
	for (i = 0; i < 10; i++)
		pthread_join(threads[i], NULL);
}

TEST_WITH_WORKERS(sets_in_a_row_release_as_many_waiters)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_AUTO, 4);
	for (i = 0; i < 4; i++)
		must_schedule(wait_in_scene, &c);
	sennit_wait_group_wait(&c.gathered);
	assert_soon(fibers_of(w->s) == 4);
	for (i = 0; i < 4; i++)
		sennit_event_set(&c.event);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.released), 4);
	assert_false(sennit_event_is_set(&c.event));
}

TEST_WITH_WORKERS(a_thousand_with_deadlines_are_released_by_one_set)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_MANUAL, LOAD(1000));
	c.deadline = sennit_after(100 * SENNIT_SECOND);
	for (i = 0; i < LOAD(1000); i++)
		must_schedule(wait_in_scene, &c);
	sennit_wait_group_wait(&c.gathered);
	assert_soon(fibers_of(w->s) == LOAD(1000));
	sennit_event_set(&c.event);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.released), LOAD(1000));
}

TEST_WITH_WORKERS(a_thousand_deadlines_pass)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_AUTO, LOAD(1000));
	c.deadline = sennit_after(5 * SENNIT_MILLISECOND);
	for (i = 0; i < LOAD(1000); i++)
		must_schedule(wait_in_scene, &c);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.late), LOAD(1000));
	sennit_event_set(&c.event); /* waiters that gave up take nothing */
	assert_true(sennit_event_is_set(&c.event));
}

/* --- order -------------------------------------------------------------- */

/* Same-thread tasks and the task that schedules them share a worker. So when
 * the scheduling task runs again, the new task is waiting. */
struct queue_up {
	sennit_event      event;
	sennit_wait_group done;
	atomic_uint       arrived, left;
	unsigned          order[16];
};

static void queue_up(void *argument)
{
	struct queue_up *q = argument;
	const unsigned   mine = q->arrived++;

	EXPECT(!sennit_event_wait(&q->event));
	q->order[q->left++] = mine;
	sennit_wait_group_done(&q->done);
}

static void form_a_queue(void *argument)
{
	struct queue_up *q = argument;
	unsigned         i;

	for (i = 0; i < 16; i++) {
		must_schedule_here(queue_up, q);
		EXPECT_SOON(q->arrived == i + 1);
	}
	for (i = 0; i < 16; i++) {
		sennit_event_set(&q->event);
		EXPECT_SOON(q->left == i + 1);
	}
	sennit_wait_group_wait(&q->done);
	for (i = 0; i < 16; i++)
		EXPECT(q->order[i] == i);
}

TEST_WITH_WORKERS(an_auto_event_releases_the_longest_waiter_first)
{
	struct queue_up q = { .event = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO) };

	sennit_wait_group_init(&q.done, 16);
	in_a_task(form_a_queue, &q);
}

/* --- one waiter leaves, another stays ----------------------------------- */

static void wait_briefly(void *argument)
{
	sennit_event *e = argument;

	EXPECT(sennit_event_wait_until(e, sennit_after(SENNIT_MILLISECOND)) ==
	       -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_timed_out_waiter_does_not_eat_the_next_set)
{
	struct scene c;

	set_scene(&c, SENNIT_EVENT_AUTO, 1);
	in_a_task(wait_briefly, &c.event);
	must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == 1);
	in_a_task(wait_briefly, &c.event);
	in_a_thread(wait_briefly, &c.event);
	sennit_event_set(&c.event);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.released), 1);
}

struct stale {
	sennit_event first, second;
};

/* A set of the first event must not end the wait for the second. */
static void wait_for_one_then_the_other(void *argument)
{
	struct stale     *s = argument;
	const sennit_time soon = sennit_after(SENNIT_MILLISECOND);
	sennit_time       later;

	EXPECT(sennit_event_wait_until(&s->first, soon) == -ETIMEDOUT);
	sennit_event_set(&s->first);
	later = sennit_after(SENNIT_MILLISECOND);
	EXPECT(sennit_event_wait_until(&s->second, later) == -ETIMEDOUT);
	EXPECT(sennit_now() >= later);
	EXPECT(sennit_event_is_set(&s->first));
	sennit_event_clear(&s->first);
}

TEST_WITH_WORKERS(a_set_after_the_deadline_wakes_no_later_wait)
{
	struct stale s = { SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO),
			   SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO) };

	in_each_place(wait_for_one_then_the_other, &s);
}
