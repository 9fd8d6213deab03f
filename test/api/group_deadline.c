/* SPDX-License-Identifier: Apache-2.0 */
/* group_deadline.c - sennit_group_set_deadline: which waits see the new
 * deadline. */
#include "crowd.h"
#include "members.h"

#include <errno.h>

enum { MEMBERS = 20 };

static sennit_time much_later(void)
{
	return sennit_after(1000 * SENNIT_SECOND);
}

struct scene {
	struct world *w;
	sennit_group  g;
	sennit_event  never, go;
	atomic_uint   begun, late;
	sennit_time   deadline; /* of each wait */
};

static int wait_in_vain(void *argument)
{
	struct scene *c = argument;
	int           err;

	atomic_fetch_add(&c->begun, 1);
	err = sennit_event_wait_until(&c->never, c->deadline);
	EXPECT(err == -ETIMEDOUT && sennit_cancelled() == -ETIMEDOUT);
	atomic_fetch_add(&c->late, err == -ETIMEDOUT);
	return err;
}

static int wait_in_a_group(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, much_later(), SENNIT_GROUP_KEEP_GOING);
	must_spawn(&g, wait_in_vain, argument);
	return sennit_group_wait(&g);
}

static void open_scene(struct scene *c, struct world *w, sennit_time deadline)
{
	*c = (struct scene){ .w = w, .deadline = SENNIT_NEVER };
	sennit_group_init_on(&c->g, w->s, deadline, SENNIT_GROUP_KEEP_GOING);
}

static void spawn_all(struct scene *c)
{
	for (int i = 0; i < MEMBERS; i++)
		must_spawn(&c->g, i % 2 ? wait_in_vain : wait_in_a_group, c);
}

static void close_scene(struct scene *c)
{
	EXPECT(sennit_group_wait(&c->g) == -ETIMEDOUT);
	EXPECT(atomic_load(&c->late) == MEMBERS);
	sennit_event_destroy(&c->never);
}

static void end_soon(void *argument)
{
	struct scene *c = argument;

	sennit_group_set_deadline(&c->g, sennit_after(SENNIT_MILLISECOND));
}

static void assert_all_wait(struct scene *c)
{
	assert_soon(waiting_for(c->w->s, &c->never) == MEMBERS);
}

/* --- who sees it -------------------------------------------------------- */

TEST_WITH_WORKERS(members_that_wait_already_see_it)
{
	const sennit_time own[] = { SENNIT_NEVER, much_later() };

	for (int i = 0; i < 2; i++) {
		struct scene c;

		open_scene(&c, w, i ? much_later() : SENNIT_NEVER);
		c.deadline = own[i];
		spawn_all(&c);
		assert_all_wait(&c);
		end_soon(&c);
		close_scene(&c);
	}
}

TEST_WITH_WORKERS(members_that_wait_later_see_it)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	end_soon(&c);
	spawn_all(&c);
	close_scene(&c);
}

TEST_WITH_WORKERS(a_deadline_that_has_passed_ends_waits_at_once)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	spawn_all(&c);
	assert_all_wait(&c);
	sennit_group_set_deadline(&c.g, 0);
	close_scene(&c);
}

static int set_as_a_member(void *argument)
{
	end_soon(argument);
	return 0;
}

TEST_WITH_WORKERS(a_member_may_set_it)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	spawn_all(&c);
	assert_all_wait(&c);
	must_spawn(&c.g, set_as_a_member, &c);
	close_scene(&c);
}

TEST_WITH_WORKERS(other_threads_and_tasks_may_set_it)
{
	for (int i = 0; i < 2; i++) {
		struct scene c;

		open_scene(&c, w, SENNIT_NEVER);
		spawn_all(&c);
		assert_all_wait(&c);
		(i ? in_a_thread : in_a_task)(end_soon, &c);
		close_scene(&c);
	}
}

TEST_WITH_WORKERS(it_may_be_set_again)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	spawn_all(&c);
	assert_all_wait(&c);
	for (uint64_t i = 900; i > 100; i--)
		sennit_group_set_deadline(&c.g,
					  sennit_after(i * SENNIT_SECOND));
	assert_int_equal(sennit_group_wait_until(&c.g, 0), -ETIMEDOUT);
	assert_int_equal(atomic_load(&c.late), 0);
	end_soon(&c);
	close_scene(&c);
}

/* --- who does not ------------------------------------------------------- */

/* A later deadline has no effect, neither on waits under way nor on later
 * ones. */
TEST_WITH_WORKERS(a_later_deadline_has_no_effect)
{
	struct scene c;

	open_scene(&c, w, sennit_after(20 * SENNIT_MILLISECOND));
	sennit_group_set_deadline(&c.g, much_later());
	spawn_all(&c);
	sennit_group_set_deadline(&c.g, SENNIT_NEVER);
	close_scene(&c);
}

static int wait_outside(void *argument)
{
	struct scene *c = argument;

	return sennit_event_wait(&c->go);
}

TEST_WITH_WORKERS(groups_around_it_do_not_see_it)
{
	struct scene c;
	sennit_group other;

	open_scene(&c, w, SENNIT_NEVER);
	open_on(w, &other, 0);
	must_spawn(&other, wait_outside, &c);
	spawn_all(&c);
	assert_all_wait(&c);
	end_soon(&c);
	close_scene(&c);
	assert_int_equal(sennit_group_wait_until(&other, 0), -ETIMEDOUT);
	sennit_event_set(&c.go);
	assert_int_equal(sennit_group_wait(&other), 0);
}

/* An outer member waits beside the inner group whose deadline is set. */
static int set_inside(void *argument)
{
	struct scene *c = argument;
	sennit_group  inner;

	sennit_group_init(&inner, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	must_spawn(&inner, wait_in_vain, c);
	EXPECT_SOON(waiting_for(c->w->s, &c->never) == 1);
	sennit_group_set_deadline(&inner, sennit_now());
	EXPECT(sennit_group_wait(&inner) == -ETIMEDOUT);
	EXPECT(sennit_cancelled() == 0);
	sennit_event_set(&c->go);
	return 0;
}

TEST_WITH_WORKERS(siblings_do_not_see_it)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	must_spawn(&c.g, wait_outside, &c);
	must_spawn(&c.g, set_inside, &c);
	assert_int_equal(sennit_group_wait(&c.g), 0);
	assert_int_equal(atomic_load(&c.late), 1);
}

static int wait_uncancelled(void *argument)
{
	struct scene *c = argument;

	return sennit_event_wait_until(&c->go, SENNIT_UNCANCELLED);
}

TEST_WITH_WORKERS(uncancelled_waits_do_not_see_it)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	must_spawn(&c.g, wait_uncancelled, &c);
	assert_soon(waiting_for(w->s, &c.go) == 1);
	sennit_group_set_deadline(&c.g, 0);
	spawn_all(&c);
	assert_soon(atomic_load(&c.late) == MEMBERS);
	sennit_event_set(&c.go);
	close_scene(&c);
}

/* A wait that has been served is not late. */
TEST_WITH_WORKERS(who_need_not_wait_is_served)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	sennit_event_set(&c.go);
	sennit_group_set_deadline(&c.g, 0);
	must_spawn(&c.g, wait_outside, &c);
	assert_int_equal(sennit_group_wait(&c.g), 0);
}

/* --- reports ------------------------------------------------------------ */

struct seen {
	const void *object;
	unsigned    timed;
};

static void look(void *context, const sennit_report_entry *e)
{
	struct seen *s = context;

	s->timed += e->state == SENNIT_REPORT_BLOCKED &&
		    e->object == s->object && e->deadline != SENNIT_NEVER;
}

static unsigned timed_waits(struct scene *c)
{
	struct seen s = { .object = &c->never };

	sennit_scheduler_report(c->w->s, look, &s);
	return s.timed;
}

TEST_WITH_WORKERS(reports_show_it)
{
	struct scene c;

	open_scene(&c, w, SENNIT_NEVER);
	for (int i = 0; i < MEMBERS; i++)
		must_spawn(&c.g, wait_in_vain, &c);
	assert_all_wait(&c);
	assert_int_equal(timed_waits(&c), 0);
	sennit_group_set_deadline(&c.g, much_later());
	assert_soon(timed_waits(&c) == MEMBERS);
	end_soon(&c);
	close_scene(&c);
}
