/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_left_locked.c - a task that holds a mutex, or a reader-writer lock as
 * a writer, must unlock it before the task ends. Builds with assertions name
 * the task that did not. Other builds name its stack when that locks the same
 * object again.
 */
#include "testing/misuse.h"

#ifdef NDEBUG
#define TASK_HAS_ENDED ""
#else
#define TASK_HAS_ENDED ": the task ended without unlocking it"
#endif

static sennit_mutex  mutex = SENNIT_MUTEX_INIT;
static sennit_rwlock rwlock = SENNIT_RWLOCK_INIT;

static void leave_mutex_locked(void *unused)
{
	sennit_mutex_lock(&mutex);
}

static void leave_rwlock_locked(void *unused)
{
	sennit_rwlock_lock(&rwlock);
}

/* Both tasks run on the stack that starts while the caller sleeps. */
static void run_twice(sennit_task_fn *run)
{
	must_schedule_here(run, NULL);
	must_schedule_here(run, NULL);
	sennit_sleep(GIVE_UP);
}

MISUSE_BY(a_task_that_ends_with_a_mutex_locked,
	  "sennit_mutex_lock" TASK_HAS_ENDED, run_twice(leave_mutex_locked));
MISUSE_BY(a_task_that_ends_with_a_rwlock_locked,
	  "sennit_rwlock_lock" TASK_HAS_ENDED, run_twice(leave_rwlock_locked));

#ifndef NDEBUG
static void wait_and_leave_locked(void *unused)
{
	leave_mutex_locked(unused);
	sennit_yield();
}

/* The task gets the mutex by hand-over, and has waited before it ends. */
MISUSE_TEST(a_task_that_has_waited_and_ends_with_a_mutex,
	    "sennit_mutex_lock" TASK_HAS_ENDED)
{
	sennit_mutex_lock(&mutex);
	must_schedule(wait_and_leave_locked, NULL);
	sennit_yield();
	sennit_mutex_unlock(&mutex);
	sennit_sleep(GIVE_UP);
}

static int be_a_member(void *unused)
{
	leave_mutex_locked(unused);
	return 0;
}

/* The opener itself holds a lock, which is allowed. */
MISUSE_TEST(a_member_that_ends_with_a_mutex_locked,
	    "sennit_mutex_lock" TASK_HAS_ENDED)
{
	sennit_group g;

	sennit_rwlock_lock(&rwlock);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&g, be_a_member, NULL) == 0);
	sennit_group_wait(&g);
}

MISUSE_BY(unbinding_with_a_mutex_locked, "sennit_thread_unbind",
	  sennit_mutex_lock(&mutex), sennit_thread_unbind());
#endif

/* The locks belong to the task, even if a member on its opener's stack locks
 * and unlocks, and across waits. */
static int lock_both(void *unused)
{
	sennit_mutex_lock(&mutex);
	sennit_rwlock_lock(&rwlock);
	sennit_yield();
	sennit_mutex_unlock(&mutex);
	sennit_rwlock_unlock(&rwlock);
	return 0;
}

static void open_with_a_lock(void *mine)
{
	sennit_group g;

	sennit_mutex_lock(mine);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < 10; i++)
		EXPECT(sennit_group_spawn(&g, lock_both, NULL) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
	sennit_mutex_unlock(mine);
}

TEST_WITH_WORKERS(what_is_given_back_is_no_misuse)
{
	sennit_mutex mine = SENNIT_MUTEX_INIT;

	in_a_task(open_with_a_lock, &mine);
	open_with_a_lock(&mine);
}
