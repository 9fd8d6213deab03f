/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_nested.c - groups inside groups: which waits the cancel and the
 * deadline of one of them end. */
#include "cancel_objects.h"
#include "members.h"

#include <errno.h>

struct nested {
	struct things *t;
	unsigned       depth;
	int            expected;
};

static int wait_at_depth(void *argument)
{
	struct nested child = *(struct nested *)argument;
	sennit_group  g;
	int           err;

	if (!child.depth) {
		atomic_fetch_add(&child.t->waiting, 1);
		err = sennit_event_wait_until(&child.t->never, SENNIT_NEVER);
		EXPECT(err == child.expected);
		return err;
	}
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	child.depth--;
	must_spawn(&g, wait_at_depth, &child);
	must_spawn(&g, wait_at_depth, &child);
	err = sennit_group_wait(&g);
	EXPECT(err == child.expected);
	return err;
}

TEST_WITH_WORKERS(cancelling_reaches_all_inside)
{
	struct things t;
	struct nested n = { &t, 5, -ECANCELED };
	sennit_group  g;

	set_up(&t);
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	must_spawn(&g, wait_at_depth, &n);
	assert_soon(atomic_load(&t.waiting) == 32);
	assert_true(sennit_group_cancel(&g));
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

TEST_WITH_WORKERS(the_deadline_reaches_all_inside)
{
	struct things t;
	struct nested n = { &t, 5, -ETIMEDOUT };
	sennit_group  g;

	set_up(&t);
	sennit_group_init_on(&g, w->s, sennit_after(5 * SENNIT_MILLISECOND),
			     SENNIT_GROUP_KEEP_GOING);
	must_spawn(&g, wait_at_depth, &n);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
}

/* The inner group fails. The member beside it continues. */
struct halves {
	struct things *t;
	atomic_uint    inner_over;
};

static int open_inner(void *argument)
{
	struct halves *h = argument;
	sennit_group   g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, wait_at_depth, &(struct nested){ h->t, 0, -ECANCELED });
	EXPECT_SOON(atomic_load(&h->t->waiting) == 1);
	EXPECT(sennit_group_cancel(&g));
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(sennit_cancelled() == 0);
	sennit_event_set(&h->t->go);
	return 0;
}

static int wait_beside(void *argument)
{
	struct halves *h = argument;
	sennit_time    later = sennit_after(100 * SENNIT_SECOND);

	EXPECT(sennit_event_wait_until(&h->t->go, later) == 0);
	EXPECT(sennit_sleep_until(sennit_after(SENNIT_MILLISECOND)) == 0);
	return 0;
}

TEST_WITH_WORKERS(cancelling_reaches_nobody_outside)
{
	struct things t;
	struct halves h = { .t = &t };
	sennit_group  g;

	set_up(&t);
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	must_spawn(&g, wait_beside, &h);
	must_spawn(&g, open_inner, &h);
	assert_int_equal(sennit_group_wait(&g), 0);
	/* A cancelled group that has ended costs later waits nothing. */
	assert_int_equal(atomic_load(&g.scope_.cancels_.value_), 0);
}

/* Deadlines: the earlier of the group's own and the outer one applies. */
struct span {
	sennit_time outer, inner, own;
};

static int wait_in_inner(void *argument)
{
	const struct span *s = argument;
	sennit_event       never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_time        end = s->outer < s->inner ? s->outer : s->inner;

	end = s->own < end ? s->own : end;
	EXPECT(sennit_event_wait_until(&never, s->own) == -ETIMEDOUT);
	EXPECT(sennit_now() >= end);
	EXPECT(sennit_now() < end + 50 * SENNIT_SECOND);
	return 0;
}

static int open_with_deadline(void *argument)
{
	const struct span *s = argument;
	sennit_group       g;

	sennit_group_init(&g, s->inner, 0);
	must_spawn(&g, wait_in_inner, argument);
	return sennit_group_wait(&g);
}

TEST_WITH_WORKERS(the_earliest_deadline_counts)
{
	const sennit_time soon = 2 * SENNIT_MILLISECOND;
	const sennit_time late = 100 * SENNIT_SECOND;
	struct span       spans[] = {
		      { soon, late, late }, { late, soon, late },
		      { late, late, soon }, { 0, late, late },
		      { late, 0, late },
	};

	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		struct span  s = spans[i];
		sennit_group g;

		s.outer = sennit_after(s.outer);
		s.inner = sennit_after(s.inner);
		s.own = sennit_after(s.own);
		sennit_group_init_on(&g, w->s, s.outer, 0);
		must_spawn(&g, open_with_deadline, &s);
		assert_int_equal(sennit_group_wait(&g), 0);
	}
}
