/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_primitives.c - misuse of mutex, event, cond, wait group. */
#include "testing/misuse.h"

/* --- wait groups -------------------------------------------------------- */

static sennit_wait_group group;

static void nothing(void *argument)
{
}

MISUSE_BY(a_wait_group_below_zero, "sennit_wait_group_done",
	  sennit_wait_group_done(&group));
MISUSE_BY(a_wait_group_beyond_its_maximum, "sennit_wait_group_add",
	  sennit_wait_group_init(&group, SENNIT_WAIT_GROUP_MAX),
	  sennit_wait_group_add(&group, 1));
MISUSE_BY(a_wait_group_that_would_wrap_round, "sennit_wait_group_add",
	  sennit_wait_group_init(&group, 5),
	  sennit_wait_group_add(&group, UINT32_MAX - 2));
MISUSE_BY(spawning_beyond_the_maximum, "sennit_wait_group_spawn",
	  sennit_wait_group_init(&group, SENNIT_WAIT_GROUP_MAX),
	  (void)!sennit_wait_group_spawn(&group, nothing, NULL));
MISUSE_BY(spawning_where_no_scheduler_is_bound, "sennit_wait_group_spawn",
	  sennit_thread_unbind(),
	  (void)!sennit_wait_group_spawn(&group, nothing, NULL));

/* The 1 of a tied task belongs to the library. */
MISUSE_TEST(done_for_a_task_that_counts_itself_off, "sennit_wait_group_done")
{
	if (sennit_wait_group_spawn(&group, nothing, NULL))
		abort();
	sennit_wait_group_done(&group);
	for (;;) /* until the task has run */
		sennit_yield();
}

static void end_twice(void *argument)
{
	sennit_wait_group_done(argument);
}

static void spawn_and_wait(void *argument)
{
	if (sennit_wait_group_spawn(argument, end_twice, argument))
		abort();
	sennit_wait_group_wait(argument);
}

MISUSE_TEST(done_in_a_task_that_counts_itself_off, "sennit_wait_group_done")
{
	in_a_task(spawn_and_wait, &group);
	for (;;)
		sennit_yield();
}

static void keep_and_wait(void *unused)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	spawn_and_wait(&g);
}

MISUSE_TEST(done_in_a_task_that_its_spawner_counts, "sennit_wait_group_done")
{
	in_a_task(keep_and_wait, NULL);
	for (;;)
		sennit_yield();
}

static void task_waits_for_group(void *argument)
{
	sennit_wait_group_wait(argument);
}

MISUSE_BY(destroying_a_wait_group_that_is_waited_for,
	  "sennit_wait_group_destroy", sennit_wait_group_init(&group, 1),
	  let_wait(o, task_waits_for_group, &group),
	  sennit_wait_group_destroy(&group));

/* --- mutexes ------------------------------------------------------------ */

static sennit_mutex mutex;

static void unlock(void *unused)
{
	sennit_mutex_unlock(&mutex);
}

static void lock_twice(void *unused)
{
	sennit_mutex_lock(&mutex);
	sennit_mutex_lock(&mutex);
}

MISUSE_BY(unlocking_what_is_not_locked, "sennit_mutex_unlock", unlock(NULL));
MISUSE_BY(unlocking_what_another_fiber_holds, "sennit_mutex_unlock",
	  sennit_mutex_lock(&mutex), in_a_task(unlock, NULL));
MISUSE_BY(unlocking_what_another_thread_holds, "sennit_mutex_unlock",
	  sennit_mutex_lock(&mutex), in_a_thread(unlock, NULL));
MISUSE_BY(locking_what_one_holds, "sennit_mutex_lock", lock_twice(NULL));
MISUSE_BY(locking_what_one_holds_in_a_task, "sennit_mutex_lock",
	  in_a_task(lock_twice, NULL));
MISUSE_BY(locking_what_one_holds_on_an_unbound_thread, "sennit_mutex_lock",
	  sennit_thread_unbind(), lock_twice(NULL));
MISUSE_BY(destroying_a_mutex_that_is_locked, "sennit_mutex_destroy",
	  sennit_mutex_lock(&mutex), sennit_mutex_destroy(&mutex));

/* --- events, conditions ------------------------------------------------- */

static sennit_event event = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static sennit_cond  cond;

static void task_waits_for_event(void *argument)
{
	(void)!sennit_event_wait(argument);
}

static void task_waits_for_cond(void *argument)
{
	sennit_mutex_lock(&mutex);
	(void)!sennit_cond_wait(argument, &mutex);
}

static bool always(void *argument)
{
	return true;
}

MISUSE_BY(destroying_an_event_that_is_waited_for, "sennit_event_destroy",
	  let_wait(o, task_waits_for_event, &event),
	  sennit_event_destroy(&event));
MISUSE_BY(destroying_a_condition_that_is_waited_for, "sennit_cond_destroy",
	  let_wait(o, task_waits_for_cond, &cond), sennit_cond_destroy(&cond));
MISUSE_BY(waiting_for_a_condition_without_its_lock, "sennit_cond_wait",
	  (void)!sennit_cond_wait(&cond, &mutex));
MISUSE_BY(waiting_as_a_fiber_without_the_lock, "sennit_fiber_wait",
	  (void)!sennit_fiber_wait(&mutex, always, NULL, SENNIT_NEVER));
