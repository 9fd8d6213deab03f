/* SPDX-License-Identifier: Apache-2.0 */
/* event_several_waiters.c - waits for several events, ended by other fibers
 * and threads: which set ends which wait, and the order of waiters. */
#include "event_row.h"

struct scene {
	struct row        row;
	size_t            count;
	bool              all;
	sennit_time       deadline;
	sennit_wait_group here, done;
	atomic_uint       taken[MANY];
	atomic_uint       ended;
	atomic_uint       late;
};

static void set_scene(struct scene *c, enum sennit_event_mode mode,
		      size_t count, bool all, unsigned waiters)
{
	memset(c, 0, sizeof(*c));
	make_row(&c->row, mode);
	c->count = count;
	c->all = all;
	c->deadline = SENNIT_NEVER;
	sennit_wait_group_init(&c->here, waiters);
	sennit_wait_group_init(&c->done, waiters);
}

static void wait_in_scene(void *argument)
{
	struct scene *c = argument;
	size_t        which = 0;
	int           err;

	sennit_wait_group_done(&c->here);
	if (c->all)
		err = sennit_event_wait_all_until(c->row.all, c->count,
						  c->deadline);
	else
		err = sennit_event_wait_any_until(c->row.all, c->count, &which,
						  c->deadline);
	if (err)
		atomic_fetch_add(&c->late, 1);
	else
		atomic_fetch_add(&c->taken[which], 1);
	atomic_fetch_add(&c->ended, 1);
	sennit_wait_group_done(&c->done);
}

static void *wait_in_scene_as_thread(void *argument)
{
	wait_in_scene(argument);
	return NULL;
}

static void each_set_ends_the_wait_for_one_of(struct scene *c, size_t i)
{
	pthread_t t;

	sennit_wait_group_init(&c->here, 2);
	sennit_wait_group_init(&c->done, 2);
	must_schedule(wait_in_scene, c);
	t = must_start_thread(wait_in_scene_as_thread, c);
	sennit_wait_group_wait(&c->here);
	sennit_event_set(&c->row.event[i]);
	assert_soon(!sennit_event_is_set(&c->row.event[i]));
	sennit_event_set(&c->row.event[i]);
	sennit_wait_group_wait(&c->done);
	pthread_join(t, NULL);
	assert_int_equal(atomic_load(&c->taken[i]), 2);
	assert_false(sennit_event_is_set(&c->row.event[i]));
}

TEST_WITH_WORKERS(any_is_ended_by_each_of_the_events)
{
	struct scene c;
	size_t       i;

	set_scene(&c, SENNIT_EVENT_AUTO, 5, false, 0);
	for (i = 0; i < 5; i++)
		each_set_ends_the_wait_for_one_of(&c, i);
	c.count = MANY;
	each_set_ends_the_wait_for_one_of(&c, MANY - 1);
}

/* n sets of events to which the same fibers are linked release n fibers. */
TEST_WITH_WORKERS(any_takes_one_event_per_waiter)
{
	struct scene c;
	unsigned     i, set = 0;

	set_scene(&c, SENNIT_EVENT_AUTO, 16, false, 10);
	c.deadline = sennit_after(100 * SENNIT_SECOND);
	for (i = 0; i < 10; i++)
		must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == 10);
	for (i = 0; i < 16; i++)
		sennit_event_set(&c.row.event[i]);
	sennit_wait_group_wait(&c.done);
	for (i = 0; i < 16; i++)
		set += sennit_event_is_set(&c.row.event[i]);
	assert_int_equal(set, 6);
	assert_int_equal(atomic_load(&c.late), 0);
}

TEST_WITH_WORKERS(any_releases_all_who_wait_for_a_manual_event)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_MANUAL, 9, false, LOAD(500));
	for (i = 0; i < LOAD(500); i++)
		must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == LOAD(500));
	sennit_event_set(&c.row.event[8]);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.taken[8]), LOAD(500));
}

TEST_WITH_WORKERS(an_event_that_stands_there_twice_is_taken_once)
{
	struct scene c;

	set_scene(&c, SENNIT_EVENT_AUTO, 3, false, 1);
	c.row.all[1] = c.row.all[0];
	must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == 1);
	sennit_event_set(&c.row.event[0]);
	sennit_event_set(&c.row.event[0]);
	sennit_wait_group_wait(&c.done);
	assert_true(sennit_event_is_set(&c.row.event[0]));
	assert_int_equal(atomic_load(&c.ended), 1);
}

TEST_WITH_WORKERS(all_ends_with_the_last_event)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_AUTO, 4, true, 1);
	must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == 1);
	for (i = 0; i < 4; i++) {
		assert_int_equal(atomic_load(&c.ended), 0);
		sennit_event_set(&c.row.event[3 - i]);
	}
	sennit_wait_group_wait(&c.done);
	for (i = 0; i < 4; i++)
		assert_false(sennit_event_is_set(&c.row.event[i]));
}

static void take_event(void *argument)
{
	EXPECT(!sennit_event_wait(argument));
}

TEST_WITH_WORKERS(all_leaves_an_event_to_who_waits_for_it_alone)
{
	struct scene c;

	set_scene(&c, SENNIT_EVENT_AUTO, 2, true, 1);
	must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == 1);
	must_schedule(take_event, &c.row.event[0]);
	assert_soon(fibers_of(w->s) == 2);
	sennit_event_set(&c.row.event[1]);
	sennit_event_set(&c.row.event[0]);
	assert_soon(fibers_of(w->s) == 1);
	assert_false(sennit_event_is_set(&c.row.event[0]));
	assert_true(sennit_event_is_set(&c.row.event[1]));
	assert_int_equal(atomic_load(&c.ended), 0);
	sennit_event_set(&c.row.event[0]);
	sennit_wait_group_wait(&c.done);
}

/* Symptom of consuming one by one: each waiter had the event that the other
 * needed. */
TEST_WITH_WORKERS(two_for_all_take_turns)
{
	struct scene c;

	set_scene(&c, SENNIT_EVENT_AUTO, 3, true, 2);
	must_schedule(wait_in_scene, &c);
	must_schedule(wait_in_scene, &c);
	assert_soon(fibers_of(w->s) == 2);
	sennit_event_set(&c.row.event[0]);
	sennit_event_set(&c.row.event[1]);
	sennit_event_set(&c.row.event[2]);
	assert_soon(atomic_load(&c.ended) == 1);
	sennit_event_set(&c.row.event[2]);
	sennit_event_set(&c.row.event[1]);
	sennit_event_set(&c.row.event[0]);
	sennit_wait_group_wait(&c.done);
}

TEST_WITH_WORKERS(a_thousand_times_all_and_any_time_out)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, SENNIT_EVENT_AUTO, 12, false, LOAD(500));
	c.deadline = sennit_after(5 * SENNIT_MILLISECOND);
	for (i = 0; i < LOAD(500); i++)
		must_schedule(wait_in_scene, &c);
	sennit_wait_group_wait(&c.done);
	c.all = true;
	sennit_wait_group_init(&c.here, LOAD(500));
	sennit_wait_group_init(&c.done, LOAD(500));
	c.deadline = sennit_after(5 * SENNIT_MILLISECOND);
	for (i = 0; i < LOAD(500); i++)
		must_schedule(wait_in_scene, &c);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.late), 2 * LOAD(500));
	for (i = 0; i < 12; i++)
		sennit_event_destroy(&c.row.event[i]);
}
