/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_keep.c - a fiber counts the tasks that it ties to a wait group on
 * its own stack apart; everybody else finds the same count. */
#include "testing/tied.h"

#include <errno.h>

enum { TASKS = 20 };

struct kept {
	sennit_wait_group *left;
	sennit_event       may_end, over;
	atomic_uint        ran;
	atomic_uint        tasks; /* tied so far */
	unsigned           next;
};

static void init(struct kept *k, sennit_wait_group *left, bool may_end)
{
	memset(k, 0, sizeof(*k));
	k->left = left;
	sennit_event_init(&k->may_end,
			  SENNIT_EVENT_MANUAL |
				  (may_end ? SENNIT_EVENT_SET : 0));
	sennit_event_init(&k->over, SENNIT_EVENT_MANUAL);
}

static void wait_until_it_may(void *argument)
{
	struct kept *k = argument;

	EXPECT(!sennit_event_wait(&k->may_end));
	atomic_fetch_add(&k->ran, 1);
}

/* --- the spawner does not wait ------------------------------------------- */

static void wait_for_all(void *argument)
{
	struct kept *k = argument;

	sennit_wait_group_wait(k->left);
	EXPECT(atomic_load(&k->ran) == TASKS);
	sennit_event_set(&k->over);
}

TEST_IN_BOTH_PLACES(another_may_wait_alone)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	struct kept       k;

	init(&k, &left, false);
	for (unsigned i = 0; i < TASKS; i++)
		tie(&left, wait_until_it_may, &k);
	must_schedule(wait_for_all, &k);
	for (unsigned i = 0; i < 3; i++)
		sennit_yield(); /* perhaps it waits already */
	EXPECT(!sennit_event_is_set(&k.over));
	sennit_event_set(&k.may_end);
	EXPECT(!sennit_event_wait(&k.over));
	EXPECT(sennit_wait_group_wait_until(&left, 0) == 0);
}

/* --- the spawner waits, too ----------------------------------------------- */

static void wait_beside(void *argument)
{
	struct kept *k = argument;

	while (atomic_load(&k->tasks) != k->next)
		sennit_yield();
	sennit_wait_group_wait(k->left);
	EXPECT(atomic_load(&k->ran) == k->next);
	sennit_event_set(&k->over);
}

TEST_IN_BOTH_PLACES(another_may_wait_beside_the_spawner)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	struct kept       k;

	init(&k, &left, true);
	for (k.next = 1; k.next < LOAD(2000); k.next++) {
		must_schedule(wait_beside, &k);
		tie(&left, wait_until_it_may, &k);
		atomic_store(&k.tasks, k.next);
		if (k.next % 4 == 0)
			sennit_yield();
		sennit_wait_group_wait(&left);
		EXPECT(atomic_load(&k.ran) == k.next);
		EXPECT(!sennit_event_wait(&k.over));
		sennit_event_clear(&k.over);
	}
}

/* --- what others see ------------------------------------------------------ */

struct looks {
	sennit_wait_group *left;
	sennit_event       over;
};

static void look_and_count(void *argument)
{
	struct looks *l = argument;

	EXPECT(sennit_wait_group_wait_until(l->left, 0) == -ETIMEDOUT);
	EXPECT(sennit_wait_group_wait_until(l->left,
					    sennit_after(SENNIT_MICROSECOND)) ==
	       -ETIMEDOUT);
	sennit_wait_group_add(l->left, 2);
	EXPECT(!sennit_wait_group_done(l->left));
	EXPECT(!sennit_wait_group_done(l->left));
	sennit_event_set(&l->over);
}

TEST_IN_BOTH_PLACES(others_see_the_whole_count)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	struct looks      l = { .left = &left };
	struct kept       k;

	init(&k, &left, false);
	sennit_event_init(&l.over, SENNIT_EVENT_MANUAL);
	tie(&left, wait_until_it_may, &k);
	must_schedule(look_and_count, &l);
	EXPECT(!sennit_event_wait(&l.over));
	sennit_event_set(&k.may_end);
	sennit_wait_group_wait(&left);
	EXPECT(atomic_load(&k.ran) == 1);
	sennit_wait_group_add(&left, 1);
	EXPECT(sennit_wait_group_done(&left));
}

/* --- many ----------------------------------------------------------------- */

TEST_IN_BOTH_PLACES(any_number_may_be_tied)
{
	const unsigned    many = LOAD(40000); /* more than are counted apart */
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	atomic_uint       ran = 0;

	for (unsigned i = 0; i < many; i++)
		tie(&left, count, &ran);
	sennit_wait_group_wait(&left);
	EXPECT(atomic_load(&ran) == many);
}
