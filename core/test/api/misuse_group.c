/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_group.c - misuse of groups. */
#include "members.h"
#include "testing/misuse.h"

static int do_nothing(void *argument)
{
	return 0;
}

static sennit_group group;

static void open_group(void)
{
	sennit_group_init(&group, SENNIT_NEVER, 0);
}

static void spawn_unbound(void *s)
{
	sennit_group_init_on(&group, s, SENNIT_NEVER, 0);
	must_spawn(&group, do_nothing, NULL);
}

static int return_one(void *argument)
{
	return 1;
}

static void wait_for_it(void *argument)
{
	sennit_group_wait(argument);
}

MISUSE_BY(opening_a_group_with_no_scheduler_bound, "sennit_group_init",
	  sennit_thread_unbind(), open_group());
MISUSE_BY(opening_a_group_with_unknown_flags, "sennit_group_init",
	  sennit_group_init(&group, SENNIT_NEVER, 64));
MISUSE_BY(opening_a_group_on_a_scheduler_with_unknown_flags,
	  "sennit_group_init_on",
	  sennit_group_init_on(&group, o->s, SENNIT_NEVER, 64));
MISUSE_IN_BY(TEST_WITHOUT_COUNT, spawning_unbound_where_nobody_works,
	     "sennit_group_spawn", in_a_thread(spawn_unbound, o->s));
MISUSE_BY(returning_a_positive_number, "sennit_group_spawn", open_group(),
	  must_spawn(&group, return_one, NULL), wait_for_it(&group));
MISUSE_BY(waiting_for_what_another_thread_has_opened, "sennit_group_wait",
	  open_group(), in_a_thread(wait_for_it, &group));

static int unlock_it(void *argument)
{
	sennit_mutex_unlock(argument);
	return 0;
}

static void unlock_as_member(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	sennit_group g;

	sennit_mutex_lock(&m);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, unlock_it, &m);
	sennit_group_wait(&g);
}

MISUSE_BY(unlocking_what_the_opener_holds, "sennit_mutex_unlock",
	  in_a_task(unlock_as_member, NULL));
