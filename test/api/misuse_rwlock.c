/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_rwlock.c - misuse of a reader-writer lock. */
#include "misuse.h"

#include "lookout.h"

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

static void unlocking_what_is_not_locked(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock", commit_unlock_unlocked);
}

static void commit_unlock_by_another_fiber(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	in_a_task(unlock, &rwlock);
}

static void unlocking_what_another_fiber_holds(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock",
		      commit_unlock_by_another_fiber);
}

static void commit_unlock_by_another_thread(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	in_a_thread(unlock, &rwlock);
}

static void unlocking_what_another_thread_holds(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock",
		      commit_unlock_by_another_thread);
}

static void commit_unlock_what_is_read(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_unlock(&rwlock);
}

static void unlocking_as_a_writer_what_one_reads(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock",
		      commit_unlock_what_is_read);
}

static void commit_unlock_shared_unlocked(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
}

static void unlocking_as_a_reader_what_nobody_reads(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock_shared",
		      commit_unlock_shared_unlocked);
}

static void commit_unlock_shared_what_is_written(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	sennit_rwlock_unlock_shared(&rwlock);
}

static void unlocking_as_a_reader_what_one_writes(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock_shared",
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

static void unlocking_as_a_reader_while_a_writer_waits(void **state)
{
	assert_misuse(state, "sennit_rwlock_unlock_shared",
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

static void locking_what_one_writes(void **state)
{
	assert_misuse(state, "sennit_rwlock_lock", commit_lock_twice);
}

static void commit_lock_twice_in_a_task(const struct offence *o)
{
	(void)o;
	in_a_task(lock_twice, NULL);
}

static void locking_what_one_writes_in_a_task(void **state)
{
	assert_misuse(state, "sennit_rwlock_lock", commit_lock_twice_in_a_task);
}

static void commit_lock_twice_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	lock_twice(NULL);
}

static void locking_what_one_writes_on_an_unbound_thread(void **state)
{
	assert_misuse(state, "sennit_rwlock_lock", commit_lock_twice_unbound);
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

static void reading_what_one_writes(void **state)
{
	assert_misuse(state, "sennit_rwlock_lock_shared",
		      commit_read_what_one_writes);
}

static void commit_too_many_readers(const struct offence *o)
{
	(void)o;
	atomic_init(&rwlock.state_.value_, SENNIT_RWLOCK_MAX << 4);
	sennit_rwlock_lock_shared(&rwlock);
}

static void more_readers_than_there_may_be(void **state)
{
	assert_misuse(state, "sennit_rwlock_lock_shared",
		      commit_too_many_readers);
}

static void commit_destroy_read(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock_shared(&rwlock);
	sennit_rwlock_destroy(&rwlock);
}

static void destroying_a_lock_that_is_read(void **state)
{
	assert_misuse(state, "sennit_rwlock_destroy", commit_destroy_read);
}

static void commit_destroy_written(const struct offence *o)
{
	(void)o;
	sennit_rwlock_lock(&rwlock);
	sennit_rwlock_destroy(&rwlock);
}

static void destroying_a_lock_that_is_written(void **state)
{
	assert_misuse(state, "sennit_rwlock_destroy", commit_destroy_written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(unlocking_what_is_not_locked),
		WITH_COUNTS(unlocking_what_another_fiber_holds),
		WITH_COUNTS(unlocking_what_another_thread_holds),
		ALONE(unlocking_as_a_writer_what_one_reads),
		ALONE(unlocking_as_a_reader_what_nobody_reads),
		ALONE(unlocking_as_a_reader_what_one_writes),
		WITH_COUNTS(unlocking_as_a_reader_while_a_writer_waits),
		WITH_COUNTS(locking_what_one_writes),
		WITH_COUNTS(locking_what_one_writes_in_a_task),
		WITH_COUNTS(locking_what_one_writes_on_an_unbound_thread),
		WITH_COUNTS(reading_what_one_writes),
		ALONE(more_readers_than_there_may_be),
		ALONE(destroying_a_lock_that_is_read),
		ALONE(destroying_a_lock_that_is_written),
	};

	return cmocka_run_group_tests_name("api/misuse_rwlock", tests, NULL,
					   NULL);
}
