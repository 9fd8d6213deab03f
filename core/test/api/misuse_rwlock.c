/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_rwlock.c - misuse of a reader-writer lock. */
#include "testing/misuse.h"

#include "testing/crowd.h"

static sennit_rwlock rwlock;

static void lock(void *unused)
{
	sennit_rwlock_lock(&rwlock);
}

static void unlock(void *unused)
{
	sennit_rwlock_unlock(&rwlock);
}

/* Lock it, and let a task wait for it. */
static void lock_wanted(const struct offence *o, sennit_task_fn *want)
{
	sennit_rwlock_lock(&rwlock);
	must_schedule(want, NULL);
	EXPECT_SOON(waiting_for(o->s, &rwlock) == 1);
}

/* --- unlocking ---------------------------------------------------------- */

MISUSE_ALONE_BY(unlocking_what_is_not_locked, "sennit_rwlock_unlock",
		unlock(NULL));
MISUSE_BY(unlocking_what_another_fiber_holds, "sennit_rwlock_unlock",
	  lock(NULL), in_a_task(unlock, NULL));
MISUSE_BY(unlocking_what_another_thread_holds, "sennit_rwlock_unlock",
	  lock(NULL), in_a_thread(unlock, NULL));
MISUSE_ALONE_BY(unlocking_as_a_writer_what_one_reads, "sennit_rwlock_unlock",
		sennit_rwlock_lock_shared(&rwlock), unlock(NULL));
MISUSE_ALONE_BY(unlocking_as_a_reader_what_nobody_reads,
		"sennit_rwlock_unlock_shared",
		sennit_rwlock_lock_shared(&rwlock),
		sennit_rwlock_unlock_shared(&rwlock),
		sennit_rwlock_unlock_shared(&rwlock));
MISUSE_ALONE_BY(unlocking_as_a_reader_what_one_writes,
		"sennit_rwlock_unlock_shared", lock(NULL),
		sennit_rwlock_unlock_shared(&rwlock));
MISUSE_BY(unlocking_as_a_reader_while_a_writer_waits,
	  "sennit_rwlock_unlock_shared", lock_wanted(o, lock),
	  sennit_rwlock_unlock_shared(&rwlock));

/* --- locking, destroying ------------------------------------------------ */

static void lock_twice(void *unused)
{
	lock(unused);
	(void)!sennit_rwlock_lock_until(&rwlock, 0);
}

/* Gets the lock by hand-over. */
static void lock_when_it_comes(void *unused)
{
	lock(unused);
	sennit_rwlock_lock_shared(&rwlock);
}

MISUSE_BY(locking_what_one_writes, "sennit_rwlock_lock", lock_twice(NULL));
MISUSE_BY(locking_what_one_writes_in_a_task, "sennit_rwlock_lock",
	  in_a_task(lock_twice, NULL));
MISUSE_BY(locking_what_one_writes_on_an_unbound_thread, "sennit_rwlock_lock",
	  sennit_thread_unbind(), lock_twice(NULL));
MISUSE_BY(reading_what_one_writes, "sennit_rwlock_lock_shared",
	  lock_wanted(o, lock_when_it_comes), unlock(NULL),
	  sennit_sleep(GIVE_UP));
MISUSE_ALONE_BY(more_readers_than_there_may_be, "sennit_rwlock_lock_shared",
		atomic_init(&rwlock.state_.value_, SENNIT_RWLOCK_MAX << 4),
		sennit_rwlock_lock_shared(&rwlock));
MISUSE_ALONE_BY(destroying_a_lock_that_is_read, "sennit_rwlock_destroy",
		sennit_rwlock_lock_shared(&rwlock),
		sennit_rwlock_destroy(&rwlock));
MISUSE_ALONE_BY(destroying_a_lock_that_is_written, "sennit_rwlock_destroy",
		lock(NULL), sennit_rwlock_destroy(&rwlock));
