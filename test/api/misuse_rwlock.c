/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_rwlock.c - misuse of a reader-writer lock. */
#include "misuse.h"

#include "crowd.h"

static sennit_rwlock rwlock;

static void unlock(void *argument)
{
	sennit_rwlock_unlock(argument);
}

static void commit_unlock_unlocked(const struct offence *o)
{
	(void)o;
	unlock(&rwlock);
}

TEST_ALONE(unlocking_what_is_not_locked)
{
	assert_misuse(w, "sennit_rwlock_unlock", commit_unlock_unlocked);
}

static void commit_unlock_by_another_fiber(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	in_a_task(unlock, &rwlock);
}

TEST_WITH_COUNTS(unlocking_what_another_fiber_holds)
{
	assert_misuse(w, "sennit_rwlock_unlock",
		      commit_unlock_by_another_fiber);
}

static void commit_unlock_by_another_thread(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	in_a_thread(unlock, &rwlock);
}

TEST_WITH_COUNTS(unlocking_what_another_thread_holds)
{
	assert_misuse(w, "sennit_rwlock_unlock",
		      commit_unlock_by_another_thread);
}

static void commit_unlock_what_is_read(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_unlock(&rwlock);
}

TEST_ALONE(unlocking_as_a_writer_what_one_reads)
{
	assert_misuse(w, "sennit_rwlock_unlock", commit_unlock_what_is_read);
}

static void commit_unlock_shared_unlocked(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
}

TEST_ALONE(unlocking_as_a_reader_what_nobody_reads)
{
	assert_misuse(w, "sennit_rwlock_unlock_shared",
		      commit_unlock_shared_unlocked);
}

static void commit_unlock_shared_what_is_written(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
}

TEST_ALONE(unlocking_as_a_reader_what_one_writes)
{
	assert_misuse(w, "sennit_rwlock_unlock_shared",
		      commit_unlock_shared_what_is_written);
}

static void task_locks(void *argument)
{
	sennit_rwlock_lock(argument);
}

static void commit_unlock_shared_with_waiters(const struct offence *o)
{
	sennit_rwlock_lock(&rwlock);
	must_schedule(task_locks, &rwlock);
	EXPECT_SOON(waiting_for(o->s, &rwlock) == 1);
	sennit_rwlock_unlock_shared(&rwlock);
}

TEST_WITH_COUNTS(unlocking_as_a_reader_while_a_writer_waits)
{
	assert_misuse(w, "sennit_rwlock_unlock_shared",
		      commit_unlock_shared_with_waiters);
}

static void lock_twice(void *argument)
{
	(void)argument;
	sennit_rwlock_lock(&rwlock);
	(void)!sennit_rwlock_lock_until(&rwlock, 0);
}

static void commit_lock_twice(const struct offence *o)
{
	(void)o;
	lock_twice(NULL);
}

TEST_WITH_COUNTS(locking_what_one_writes)
{
	assert_misuse(w, "sennit_rwlock_lock", commit_lock_twice);
}

static void commit_lock_twice_in_a_task(const struct offence *o)
{
	(void)o;
	in_a_task(lock_twice, NULL);
}

TEST_WITH_COUNTS(locking_what_one_writes_in_a_task)
{
	assert_misuse(w, "sennit_rwlock_lock", commit_lock_twice_in_a_task);
}

static void commit_lock_twice_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	lock_twice(NULL);
}

TEST_WITH_COUNTS(locking_what_one_writes_on_an_unbound_thread)
{
	assert_misuse(w, "sennit_rwlock_lock", commit_lock_twice_unbound);
}

/* Gets the lock by hand-over. */
static void lock_when_it_comes(void *argument)
{
	(void)argument;
	sennit_rwlock_lock(&rwlock);
	sennit_rwlock_lock_shared(&rwlock);
}

static void commit_read_what_one_writes(const struct offence *o)
{
	sennit_rwlock_lock(&rwlock);
	must_schedule(lock_when_it_comes, NULL);
	EXPECT_SOON(waiting_for(o->s, &rwlock) == 1);
	sennit_rwlock_unlock(&rwlock);
	sennit_sleep(GIVE_UP);
}

TEST_WITH_COUNTS(reading_what_one_writes)
{
	assert_misuse(w, "sennit_rwlock_lock_shared",
		      commit_read_what_one_writes);
}

static void commit_too_many_readers(const struct offence *o)
{
	(void)o;
	atomic_init(&rwlock.state_.value_, SENNIT_RWLOCK_MAX << 4);
	sennit_rwlock_lock_shared(&rwlock);
}

TEST_ALONE(more_readers_than_there_may_be)
{
	assert_misuse(w, "sennit_rwlock_lock_shared", commit_too_many_readers);
}

static void commit_destroy_read(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_destroy(&rwlock);
}

TEST_ALONE(destroying_a_lock_that_is_read)
{
	assert_misuse(w, "sennit_rwlock_destroy", commit_destroy_read);
}

static void commit_destroy_written(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	sennit_rwlock_destroy(&rwlock);
}

TEST_ALONE(destroying_a_lock_that_is_written)
{
	assert_misuse(w, "sennit_rwlock_destroy", commit_destroy_written);
}
