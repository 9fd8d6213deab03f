/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_asked.c - members ask whether their group is cancelled or late. */
#include "cancel_objects.h"
#include "members.h"

#include <errno.h>

static int ask(void *argument)
{
	struct things *t = argument;

	EXPECT(sennit_check_cancelled() == 0);
	atomic_fetch_add(&t->waiting, 1);
	EXPECT(!sennit_event_wait_until(&t->go, SENNIT_UNCANCELLED));
	EXPECT(sennit_check_cancelled() == -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(members_may_ask)
{
	struct things t;
	sennit_group  g;

	set_up(&t);
	assert_int_equal(sennit_check_cancelled(), 0);
	sennit_group_init_on(&g, w->s, sennit_after(100 * SENNIT_SECOND), 0);
	must_spawn(&g, ask, &t);
	must_spawn(&g, ask, &t);
	assert_soon(atomic_load(&t.waiting) == 2);
	sennit_group_cancel(&g);
	/* The opener of a group is not inside it. */
	assert_int_equal(sennit_check_cancelled(), 0);
	sennit_event_set(&t.go);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(sennit_check_cancelled(), 0);
}

static int ask_until_late(void *argument)
{
	int err;

	while (!(err = sennit_check_cancelled()))
		sennit_yield();
	return err;
}

TEST_WITH_WORKERS(members_see_the_deadline_by_asking)
{
	sennit_group g;

	sennit_group_init_on(&g, w->s, sennit_after(2 * SENNIT_MILLISECOND), 0);
	must_spawn(&g, ask_until_late, NULL);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
}
