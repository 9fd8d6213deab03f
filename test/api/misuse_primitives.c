/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_primitives.c - misuse of mutex, event, cond, wait group. */
#include "misuse.h"

/* --- wait groups -------------------------------------------------------- */

static void commit_done_below_zero(const struct offence *o)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)o;
	sennit_wait_group_done(&g);
}

TEST_WITH_COUNTS(a_wait_group_below_zero)
{
	assert_misuse(w, "sennit_wait_group_done", commit_done_below_zero);
}

static void commit_add_too_many(const struct offence *o)
{
	sennit_wait_group g;

	(void)o;
	sennit_wait_group_init(&g, SENNIT_WAIT_GROUP_MAX);
	sennit_wait_group_add(&g, 1);
}

TEST_WITH_COUNTS(a_wait_group_beyond_its_maximum)
{
	assert_misuse(w, "sennit_wait_group_add", commit_add_too_many);
}

static void nothing(void *argument)
{
	(void)argument;
}

/* The 1 of a tied task belongs to the library. */
static void commit_done_for_a_tied_task(const struct offence *o)
{
	static sennit_wait_group g;

	(void)o;
	if (sennit_wait_group_spawn(&g, nothing, NULL))
		abort();
	sennit_wait_group_done(&g);
	for (;;) /* until the task has run */
		sennit_yield();
}

TEST_WITH_COUNTS(done_for_a_task_that_counts_itself_off)
{
	assert_misuse(w, "sennit_wait_group_done", commit_done_for_a_tied_task);
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

static void commit_done_in_a_tied_task(const struct offence *o)
{
	static sennit_wait_group g;

	(void)o;
	in_a_task(spawn_and_wait, &g);
	for (;;)
		sennit_yield();
}

TEST_WITH_COUNTS(done_in_a_task_that_counts_itself_off)
{
	assert_misuse(w, "sennit_wait_group_done", commit_done_in_a_tied_task);
}

static void keep_and_wait(void *unused)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)unused;
	spawn_and_wait(&g);
}

static void commit_done_in_a_kept_task(const struct offence *o)
{
	(void)o;
	in_a_task(keep_and_wait, NULL);
	for (;;)
		sennit_yield();
}

TEST_WITH_COUNTS(done_in_a_task_that_its_spawner_counts)
{
	assert_misuse(w, "sennit_wait_group_done", commit_done_in_a_kept_task);
}

static void commit_spawn_too_many(const struct offence *o)
{
	sennit_wait_group g;

	(void)o;
	sennit_wait_group_init(&g, SENNIT_WAIT_GROUP_MAX);
	if (sennit_wait_group_spawn(&g, nothing, NULL))
		abort();
}

TEST_WITH_COUNTS(spawning_beyond_the_maximum)
{
	assert_misuse(w, "sennit_wait_group_spawn", commit_spawn_too_many);
}

static void commit_spawn_unbound(const struct offence *o)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)o;
	sennit_unbind();
	if (sennit_wait_group_spawn(&g, nothing, NULL))
		abort();
}

TEST_WITH_COUNTS(spawning_where_no_scheduler_is_bound)
{
	assert_misuse(w, "sennit_wait_group_spawn", commit_spawn_unbound);
}

static void commit_add_so_many_that_it_wraps(const struct offence *o)
{
	sennit_wait_group g;

	(void)o;
	sennit_wait_group_init(&g, 5);
	sennit_wait_group_add(&g, UINT32_MAX - 2);
}

TEST_WITH_COUNTS(a_wait_group_that_would_wrap_round)
{
	assert_misuse(w, "sennit_wait_group_add",
		      commit_add_so_many_that_it_wraps);
}

static void task_waits_for_group(void *argument)
{
	sennit_wait_group_wait(argument);
}

static void commit_destroy_group(const struct offence *o)
{
	sennit_wait_group g;

	sennit_wait_group_init(&g, 1);
	must_schedule(task_waits_for_group, &g);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_wait_group_destroy(&g);
}

TEST_WITH_COUNTS(destroying_a_wait_group_that_is_waited_for)
{
	assert_misuse(w, "sennit_wait_group_destroy", commit_destroy_group);
}

/* --- mutexes ------------------------------------------------------------ */

static void commit_unlock_unlocked(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)o;
	sennit_mutex_unlock(&m);
}

TEST_WITH_COUNTS(unlocking_what_is_not_locked)
{
	assert_misuse(w, "sennit_mutex_unlock", commit_unlock_unlocked);
}

static void task_unlocks(void *argument)
{
	sennit_mutex_unlock(argument);
}

static void commit_unlock_by_another_fiber(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)o;
	sennit_mutex_lock(&m);
	in_a_task(task_unlocks, &m);
}

TEST_WITH_COUNTS(unlocking_what_another_fiber_holds)
{
	assert_misuse(w, "sennit_mutex_unlock", commit_unlock_by_another_fiber);
}

static void commit_unlock_by_another_thread(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)o;
	sennit_mutex_lock(&m);
	in_a_thread(task_unlocks, &m);
}

TEST_WITH_COUNTS(unlocking_what_another_thread_holds)
{
	assert_misuse(w, "sennit_mutex_unlock",
		      commit_unlock_by_another_thread);
}

static void lock_twice(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)argument;
	sennit_mutex_lock(&m);
	sennit_mutex_lock(&m);
}

static void commit_lock_twice(const struct offence *o)
{
	(void)o;
	lock_twice(NULL);
}

TEST_WITH_COUNTS(locking_what_one_holds)
{
	assert_misuse(w, "sennit_mutex_lock", commit_lock_twice);
}

static void commit_lock_twice_in_a_task(const struct offence *o)
{
	(void)o;
	in_a_task(lock_twice, NULL);
}

TEST_WITH_COUNTS(locking_what_one_holds_in_a_task)
{
	assert_misuse(w, "sennit_mutex_lock", commit_lock_twice_in_a_task);
}

static void commit_lock_twice_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	lock_twice(NULL);
}

TEST_WITH_COUNTS(locking_what_one_holds_on_an_unbound_thread)
{
	assert_misuse(w, "sennit_mutex_lock", commit_lock_twice_unbound);
}

static void commit_destroy_mutex(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)o;
	sennit_mutex_lock(&m);
	sennit_mutex_destroy(&m);
}

TEST_WITH_COUNTS(destroying_a_mutex_that_is_locked)
{
	assert_misuse(w, "sennit_mutex_destroy", commit_destroy_mutex);
}

/* --- events, conditions ------------------------------------------------- */

static void task_waits_for_event(void *argument)
{
	(void)!sennit_event_wait(argument);
}

static void commit_destroy_event(const struct offence *o)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	must_schedule(task_waits_for_event, &e);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_event_destroy(&e);
}

TEST_WITH_COUNTS(destroying_an_event_that_is_waited_for)
{
	assert_misuse(w, "sennit_event_destroy", commit_destroy_event);
}

static sennit_mutex cond_lock;

static void task_waits_for_cond(void *argument)
{
	sennit_mutex_lock(&cond_lock);
	(void)!sennit_cond_wait(argument, &cond_lock);
}

static void commit_destroy_cond(const struct offence *o)
{
	sennit_cond c = SENNIT_COND_INIT;

	must_schedule(task_waits_for_cond, &c);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_cond_destroy(&c);
}

TEST_WITH_COUNTS(destroying_a_condition_that_is_waited_for)
{
	assert_misuse(w, "sennit_cond_destroy", commit_destroy_cond);
}

/* --- waiting without the lock ------------------------------------------- */

static void commit_cond_wait_unlocked(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	sennit_cond  c = SENNIT_COND_INIT;

	(void)o;
	(void)!sennit_cond_wait(&c, &m);
}

TEST_WITH_COUNTS(waiting_for_a_condition_without_its_lock)
{
	assert_misuse(w, "sennit_cond_wait", commit_cond_wait_unlocked);
}

static bool always(void *argument)
{
	(void)argument;
	return true;
}

static void commit_fiber_wait_unlocked(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)o;
	(void)!sennit_fiber_wait(&m, always, NULL, SENNIT_NEVER);
}

TEST_WITH_COUNTS(waiting_as_a_fiber_without_the_lock)
{
	assert_misuse(w, "sennit_fiber_wait", commit_fiber_wait_unlocked);
}
