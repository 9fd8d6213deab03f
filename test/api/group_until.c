/* SPDX-License-Identifier: Apache-2.0 */
/* group_until.c - the opener waits until a deadline, counts the members, and
 * drains the group. */
#include "crowd.h"
#include "members.h"

#include <errno.h>

/* A deadline that passes while members wait. */
static sennit_time soon(void)
{
	return sennit_after(SENNIT_MILLISECOND);
}

static int wait_for_event(void *event)
{
	return sennit_event_wait(event);
}

static int fail_at_once(void *unused)
{
	(void)unused;
	return -EIO;
}

/* Members are seen to end by the opener, who waits again and again. */
static bool all_end(sennit_group *g)
{
	return !sennit_group_wait_until(g, sennit_after(GIVE_UP));
}

/* --- waiting until a deadline ------------------------------------------- */

static void wait_twice(void *world)
{
	sennit_event go = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	open_on(world, &g, 0);
	for (int i = 0; i < 20; i++)
		must_spawn(&g, i % 2 ? wait_for_event : end_at_once, &go);
	EXPECT(sennit_group_wait_until(&g, 0) == -ETIMEDOUT);
	EXPECT(sennit_group_wait_until(&g, soon()) == -ETIMEDOUT);
	EXPECT(sennit_group_wait_until(&g, soon()) == -ETIMEDOUT);
	EXPECT(sennit_group_members(&g) >= 10);
	sennit_event_set(&go);
	EXPECT(all_end(&g));
	EXPECT(sennit_group_members(&g) == 0);
	EXPECT(sennit_group_wait_until(&g, 0) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
}

TEST_WITH_WORKERS(members_may_outlast_the_deadline)
{
	in_each_place_of(wait_twice, w);
}

/* The result is that of sennit_group_wait. */
static void look_for_the_error(void *world)
{
	sennit_group g;

	open_on(world, &g, 0);
	must_spawn(&g, fail_at_once, NULL);
	EXPECT(all_end(&g));
	EXPECT(sennit_group_wait(&g) == -EIO);
}

TEST_WITH_WORKERS(the_error_is_for_the_last_wait)
{
	in_each_place_of(look_for_the_error, w);
}

static void spawn_in_between(void *world)
{
	sennit_event go = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;
	uint32_t     round;

	open_on(world, &g, 0);
	EXPECT(sennit_group_members(&g) == 0);
	for (round = 1; round <= 5; round++) {
		must_spawn(&g, wait_for_event, &go);
		EXPECT(sennit_group_members(&g) == round);
		EXPECT(sennit_group_wait_until(&g, soon()) == -ETIMEDOUT);
		EXPECT(sennit_group_members(&g) == round);
	}
	sennit_event_set(&go);
	EXPECT(all_end(&g));
	must_spawn(&g, end_at_once, NULL);
	EXPECT(all_end(&g));
	must_spawn(&g, end_at_once, NULL);
	EXPECT(sennit_group_wait(&g) == 0);
}

TEST_WITH_WORKERS(the_opener_may_spawn_between_its_waits)
{
	in_each_place_of(spawn_in_between, w);
}

/* --- in a group --------------------------------------------------------- */

struct nest {
	sennit_event stop, release;
	sennit_group outer;
	int          expected;
	sennit_time  deadline; /* of the wait */
	bool         member_ends;
};

static int wait_for_release(void *argument)
{
	struct nest *n = argument;

	return sennit_event_wait_until(&n->release,
				       n->member_ends ? SENNIT_NEVER
						      : SENNIT_UNCANCELLED);
}

static int open_inside(void *argument)
{
	struct nest *n = argument;
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, wait_for_release, n);
	sennit_event_set(&n->stop);
	EXPECT(sennit_group_wait_until(&g, n->deadline) == n->expected);
	sennit_event_set(&n->release);
	EXPECT(sennit_group_wait(&g) == (n->member_ends ? -ECANCELED : 0));
	return 0;
}

TEST_WITH_WORKERS(a_cancel_around_the_opener_ends_its_wait)
{
	struct nest n = { .expected = -ECANCELED, .deadline = SENNIT_NEVER };

	open_on(w, &n.outer, 0);
	must_spawn(&n.outer, open_inside, &n);
	assert_int_equal(sennit_event_wait(&n.stop), 0);
	sennit_group_cancel(&n.outer);
	assert_int_equal(sennit_group_wait(&n.outer), -ECANCELED);
}

TEST_WITH_WORKERS(a_deadline_around_the_opener_ends_its_wait)
{
	struct nest n = { .expected = -ETIMEDOUT, .deadline = SENNIT_NEVER };

	sennit_group_init_on(&n.outer, w->s, soon(), SENNIT_GROUP_KEEP_GOING);
	must_spawn(&n.outer, open_inside, &n);
	assert_int_equal(sennit_group_wait(&n.outer), 0);
}

/* The member of the inner group is cancelled, and so the wait succeeds. */
TEST_WITH_WORKERS(an_uncancelled_wait_lasts_until_the_members_have_ended)
{
	struct nest n = { .deadline = SENNIT_UNCANCELLED, .member_ends = true };

	open_on(w, &n.outer, 0);
	must_spawn(&n.outer, open_inside, &n);
	assert_int_equal(sennit_event_wait(&n.stop), 0);
	sennit_group_cancel(&n.outer);
	assert_int_equal(sennit_group_wait(&n.outer), -ECANCELED);
}

/* --- drain -------------------------------------------------------------- */

static void drain_in_time(void *world)
{
	atomic_uint  ran = 0;
	sennit_group g;

	open_on(world, &g, 0);
	for (int i = 0; i < 20; i++)
		must_spawn(&g, end_at_once, &ran);
	EXPECT(sennit_group_drain(&g, sennit_after(GIVE_UP)) == 0);
}

TEST_WITH_WORKERS(members_that_end_in_time_are_not_cancelled)
{
	in_each_place_of(drain_in_time, w);
}

static void drain_late(void *world)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	open_on(world, &g, 0);
	for (int i = 0; i < 20; i++)
		must_spawn(&g, i % 2 ? wait_for_event : end_at_once, &never);
	EXPECT(sennit_group_drain(&g, soon()) == -ECANCELED);
	sennit_event_destroy(&never);
	open_on(world, &g, 0);
	must_spawn(&g, wait_for_event, &never);
	EXPECT(sennit_group_drain(&g, 0) == -ECANCELED);
}

TEST_WITH_WORKERS(those_that_do_not_are)
{
	in_each_place_of(drain_late, w);
}

static int fail_when_cancelled(void *event)
{
	return sennit_event_wait(event) ? -EPIPE : 0;
}

TEST_WITH_WORKERS(an_error_of_a_member_precedes_the_cancel)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	open_on(w, &g, 0);
	must_spawn(&g, fail_when_cancelled, &never);
	assert_int_equal(sennit_group_drain(&g, soon()), -EPIPE);
}

/* A cancel around the opener does not wait for the deadline. */
static int drain_inside(void *argument)
{
	struct nest *n = argument;
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, wait_for_event, &never);
	sennit_event_set(&n->stop);
	EXPECT(sennit_group_drain(&g, SENNIT_NEVER) == -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(a_cancel_around_the_opener_ends_the_drain)
{
	struct nest n = { .expected = 0 };

	open_on(w, &n.outer, 0);
	must_spawn(&n.outer, drain_inside, &n);
	assert_int_equal(sennit_event_wait(&n.stop), 0);
	sennit_group_cancel(&n.outer);
	assert_int_equal(sennit_group_wait(&n.outer), -ECANCELED);
}
