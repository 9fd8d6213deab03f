/* SPDX-License-Identifier: Apache-2.0 */
/* group_deadline.c - sennit_group_set_deadline: which waits see the new
 * deadline. */
#include "testing/crowd.h"
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
	EXPECT(err == -ETIMEDOUT && sennit_check_cancelled() == -ETIMEDOUT);
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

/* --- waits that it ends -------------------------------------------------- */

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

/* --- waits that it does not end ------------------------------------------ */

static int wait_outside(void *argument)
{
	struct scene *c = argument;

	return sennit_event_wait(&c->go);
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

	sennit_report_visit(c->w->s, look, &s);
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
