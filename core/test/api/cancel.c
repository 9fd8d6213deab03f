/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.c - cancelled groups, and their deadlines: which calls return what.
 * cancel_every_wait.c has more of them. */
#include "cancel_objects.h"
#include "members.h"

#include <errno.h>

/* --- every wait with a deadline ----------------------------------------- */

static bool never_holds(void *argument)
{
	return false;
}

static int wait_group(struct things *t, sennit_time d)
{
	return sennit_wait_group_wait_until(&t->one, d);
}

static int wait_mutex(struct things *t, sennit_time d)
{
	return sennit_mutex_lock_until(&t->held, d);
}

/* These calls only return whether the predicate holds. */
static int wait_cond_for(struct things *t, sennit_time d)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	int          err;

	sennit_mutex_lock(&m);
	err = sennit_cond_wait_until_true(&t->quiet, &m, never_holds, NULL, d);
	sennit_mutex_unlock(&m);
	EXPECT(err == sennit_check_cancelled());
	return err;
}

static int wait_notify(struct things *t, sennit_time d)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	bool         holds;

	sennit_mutex_lock(&m);
	holds = sennit_fiber_wait(&m, never_holds, NULL, d);
	sennit_mutex_unlock(&m);
	EXPECT(!holds);
	return sennit_check_cancelled();
}

static int (*const waits[])(struct things *t, sennit_time d) = {
	wait_group,
	wait_mutex,
	wait_cond_for,
	wait_notify,
};

enum { WAITS = sizeof(waits) / sizeof(*waits) };

struct attempt {
	struct things *t;
	int (*wait)(struct things *t, sennit_time d);
	sennit_time deadline;
	int         expected;
};

static int wait_now(void *argument)
{
	const struct attempt *a = argument;

	atomic_fetch_add(&a->t->waiting, 1);
	EXPECT(a->wait(a->t, a->deadline) == a->expected);
	EXPECT(sennit_check_cancelled() == a->expected);
	return a->expected;
}

static int wait_once_cancelled(void *argument)
{
	const struct attempt *a = argument;

	EXPECT(!sennit_event_wait_until(&a->t->go, SENNIT_UNCANCELLED));
	return wait_now(argument);
}

static void spawn_waits(struct things *t, sennit_group *g,
			sennit_member_fn *run, int expected)
{
	struct attempt a = { .t = t, .expected = expected };

	for (unsigned i = 0; i < 2 * WAITS; i++) {
		a.wait = waits[i % WAITS];
		a.deadline = i < WAITS ? SENNIT_NEVER
				       : sennit_after(100 * SENNIT_SECOND);
		EXPECT(sennit_group_spawn_copy(g, run, &a, sizeof(a)) == 0);
	}
}

/* A group whose members wait in every way. A cancel must end all waits. */
static void begin_waits(struct things *t, sennit_group *g, struct world *w,
			sennit_member_fn *run)
{
	set_up(t);
	sennit_mutex_lock(&t->held);
	open_on(w, g, 0);
	spawn_waits(t, g, run, -ECANCELED);
}

static void assert_all_cancelled(struct things *t, sennit_group *g)
{
	assert_int_equal(sennit_group_wait(g), -ECANCELED);
	sennit_mutex_unlock(&t->held);
}

TEST_WITH_WORKERS(waits_to_come_end_at_once)
{
	struct things t;
	sennit_group  g;

	begin_waits(&t, &g, w, wait_once_cancelled);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&t.go);
	assert_all_cancelled(&t, &g);
}

TEST_WITH_WORKERS(waits_end_at_the_deadline_of_the_group)
{
	struct things t;
	sennit_group  g;

	set_up(&t);
	sennit_mutex_lock(&t.held);
	sennit_group_init_on(&g, w->s, sennit_after(10 * SENNIT_MILLISECOND),
			     SENNIT_GROUP_KEEP_GOING);
	spawn_waits(&t, &g, wait_now, -ETIMEDOUT);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
	sennit_mutex_unlock(&t.held);
}

/* --- what a cancelled group does not end -------------------------------- */

static int take_what_is_there(void *argument)
{
	struct things *t = argument;
	sennit_time    later = sennit_after(100 * SENNIT_SECOND);

	EXPECT(!sennit_event_wait_until(&t->go, SENNIT_UNCANCELLED));
	EXPECT(sennit_check_cancelled() == -ECANCELED);
	EXPECT(sennit_event_wait_until(&t->set, later) == 0);
	EXPECT(sennit_wait_group_wait_until(&t->none, later) == 0);
	EXPECT(sennit_mutex_lock_until(&t->free, later) == 0);
	sennit_mutex_unlock(&t->free);
	EXPECT(sennit_sleep_until(sennit_now()) == 0);
	return 0;
}

TEST_WITH_WORKERS(what_is_there_can_be_had)
{
	struct things t;
	sennit_group  g;

	set_up(&t);
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	must_spawn(&g, take_what_is_there, &t);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&t.go);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

static int wait_for_what_cannot_fail(void *argument)
{
	struct things *t = argument;

	EXPECT(!sennit_event_wait_until(&t->go, SENNIT_UNCANCELLED));
	EXPECT(sennit_check_cancelled() == -ECANCELED);
	atomic_fetch_add(&t->waiting, 1);
	sennit_wait_group_wait(&t->one);
	sennit_mutex_lock(&t->held);
	sennit_mutex_unlock(&t->held);
	EXPECT(sennit_sleep(SENNIT_SECOND) == -ECANCELED);
	return 0;
}

static void end_wait_group(void *argument)
{
	struct things *t = argument;

	EXPECT_SOON(atomic_load(&t->waiting) == 5);
	sennit_wait_group_done(&t->one);
}

TEST_WITH_WORKERS(waits_that_return_nothing_go_on)
{
	struct things t;
	sennit_group  g;

	set_up(&t);
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	for (int i = 0; i < 5; i++)
		must_spawn(&g, wait_for_what_cannot_fail, &t);
	assert_true(sennit_group_cancel(&g));
	must_schedule(end_wait_group, &t);
	sennit_event_set(&t.go);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

static int run_late(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return 0;
}

static int refused(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1000);
	return 0;
}

TEST_WITH_WORKERS(the_accepted_run_and_no_more_are_accepted)
{
	atomic_uint  ran = 0;
	sennit_group g;

	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	for (int i = 0; i < 50; i++)
		must_spawn(&g, run_late, &ran);
	assert_true(sennit_group_cancel(&g));
	assert_int_equal(sennit_group_spawn(&g, refused, &ran), -ECANCELED);
	assert_int_equal(sennit_group_spawn_copy(&g, refused, "x", 1),
			 -ECANCELED);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(atomic_load(&ran), 50);
}

/* --- from anywhere ------------------------------------------------------ */

static void cancel_it(void *argument)
{
	EXPECT(sennit_group_cancel(argument));
}

TEST_WITH_WORKERS(any_thread_may_cancel)
{
	struct things t;
	sennit_group  g;

	begin_waits(&t, &g, w, wait_now);
	assert_soon(atomic_load(&t.waiting) == 2 * WAITS);
	in_a_thread(cancel_it, &g);
	assert_all_cancelled(&t, &g);
}

TEST_WITH_WORKERS(any_task_may_cancel)
{
	struct things t;
	sennit_group  g;

	begin_waits(&t, &g, w, wait_now);
	in_a_task(cancel_it, &g);
	assert_all_cancelled(&t, &g);
}

/* --- groups inside groups ------------------------------------------------- */

static int wait_inside(void *argument)
{
	struct things *t = argument;

	atomic_fetch_add(&t->waiting, 1);
	EXPECT(sennit_event_wait(&t->never) == -ECANCELED);
	return 0;
}

/* The inner group is cancelled. The member beside it continues. */
static int open_inner(void *argument)
{
	struct things *t = argument;
	sennit_group   g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, wait_inside, t);
	EXPECT_SOON(atomic_load(&t->waiting) == 1);
	EXPECT(sennit_group_cancel(&g));
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(sennit_check_cancelled() == 0);
	sennit_event_set(&t->go);
	return 0;
}

static int wait_beside(void *argument)
{
	struct things *t = argument;
	sennit_time    later = sennit_after(100 * SENNIT_SECOND);

	EXPECT(sennit_event_wait_until(&t->go, later) == 0);
	EXPECT(sennit_sleep_until(sennit_after(SENNIT_MILLISECOND)) == 0);
	return 0;
}

TEST_WITH_WORKERS(cancelling_reaches_nobody_outside)
{
	struct things t;
	sennit_group  g;

	set_up(&t);
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	must_spawn(&g, wait_beside, &t);
	must_spawn(&g, open_inner, &t);
	assert_int_equal(sennit_group_wait(&g), 0);
	/* A cancelled group that has ended costs later waits nothing. */
	assert_int_equal(atomic_load(&g.scope_.cancels_.value_), 0);
}
