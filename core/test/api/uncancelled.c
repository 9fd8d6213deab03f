/* SPDX-License-Identifier: Apache-2.0 */
/* uncancelled.c - waits with the deadline SENNIT_UNCANCELLED continue when
 * their group is cancelled. */
#include "testing/with_workers.h"

#include <errno.h>

struct things {
	sennit_event  go, told;
	sennit_group  g;
	sennit_mutex  m;
	sennit_cond   changed;
	bool          is_told; /* under m */
	sennit_fiber *waiter;
};

static bool is_told(void *things)
{
	return ((struct things *)things)->is_told;
}

/* Runs when the waiter waits or is about to. */
static void tell_event(void *argument)
{
	struct things *t = argument;

	sennit_event_set(&t->told);
}

static void tell_fiber(void *argument)
{
	struct things *t = argument;

	sennit_mutex_lock(&t->m);
	t->is_told = true;
	sennit_mutex_unlock(&t->m);
	sennit_fiber_notify(t->waiter);
	sennit_event_set(&t->go);
}

static void tell_all(void *argument)
{
	struct things *t = argument;

	sennit_mutex_lock(&t->m);
	t->is_told = true;
	sennit_cond_notify_all(&t->changed);
	sennit_mutex_unlock(&t->m);
}

static int wait_uncancelled(void *argument)
{
	struct things *t = argument;
	sennit_event  *events[] = { &t->go, &t->told };
	size_t         which = 0;

	EXPECT(sennit_group_cancel(&t->g));
	EXPECT(sennit_check_cancelled() == -ECANCELED);
	must_schedule(tell_event, t);
	EXPECT(sennit_event_wait_until(&t->told, SENNIT_UNCANCELLED) == 0);
	must_schedule(tell_event, t);
	EXPECT(sennit_event_wait_any_until(events, 2, &which,
					   SENNIT_UNCANCELLED) == 0);
	EXPECT(which == 1);
	t->waiter = sennit_fiber_current();
	must_schedule(tell_fiber, t);
	sennit_mutex_lock(&t->m);
	EXPECT(sennit_fiber_wait(&t->m, is_told, t, SENNIT_UNCANCELLED));
	sennit_mutex_unlock(&t->m);
	/* no more notifies follow */
	EXPECT(!sennit_event_wait_until(&t->go, SENNIT_UNCANCELLED));
	t->is_told = false;
	must_schedule(tell_all, t);
	sennit_mutex_lock(&t->m);
	EXPECT(!sennit_cond_wait_until_true(&t->changed, &t->m, is_told, t,
					    SENNIT_UNCANCELLED));
	sennit_mutex_unlock(&t->m);
	return 0;
}

TEST_WITH_WORKERS(waits_go_on_in_a_cancelled_group)
{
	struct things t = { .is_told = false };

	sennit_event_init(&t.told, SENNIT_EVENT_AUTO);
	sennit_group_init_on(&t.g, w->s, sennit_after(1),
			     SENNIT_GROUP_OWN_STACKS);
	assert_int_equal(sennit_group_spawn(&t.g, wait_uncancelled, &t), 0);
	assert_int_equal(sennit_group_wait(&t.g), -ECANCELED);
}
