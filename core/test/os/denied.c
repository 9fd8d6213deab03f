/* SPDX-License-Identifier: Apache-2.0 */
/* denied.c - a sandbox refuses system calls, or an older kernel does not know
 * them: the library works in its slower ways. Each sandbox is a child with a
 * seccomp filter.
 */
#include "testing/with_workers.h"
#include "../api/fork_fib.h"
#include "testing/child.h"
#include "../stress/bringing.h"
#include "refusal.h"

#if defined(SN_ASAN) || defined(SN_TSAN)

SKIP_ALL("sanitizers need these system calls");

#else

enum { TASKS = 400, ROUNDS = 20 };

/* --- the work ------------------------------------------------------------ */

static struct {
	sennit_wait_group done;
	sennit_event      go;
	sennit_mutex      lock;
	unsigned          sum; /* under lock */
} work;

static void add(void *unused)
{
	sennit_mutex_lock(&work.lock);
	work.sum++;
	sennit_mutex_unlock(&work.lock);
	sennit_wait_group_done(&work.done);
}

static void block(void *unused)
{
	EXPECT(!sennit_event_wait(&work.go));
	sennit_wait_group_done(&work.done);
}

/* Computes long enough without a point, so that thieves must force tasks out of
 * the deque. */
static void spawn_and_compute(void *unused)
{
	for (unsigned i = 0; i < TASKS; i++)
		if (sennit_schedule(i % 2 ? add : block, NULL))
			abort();
	for (unsigned i = 0; i < 2000000; i++)
		__asm__ volatile("" ::: "memory");
	sennit_event_set(&work.go);
}

static int labour(uint32_t workers)
{
	sennit_scheduler *s;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = workers)) ||
	    sennit_thread_bind(s))
		return 1;
	for (unsigned i = 0; i < ROUNDS; i++) {
		memset(&work, 0, sizeof(work));
		sennit_wait_group_init(&work.done, TASKS);
		if (sennit_schedule(spawn_and_compute, NULL))
			return 2;
		sennit_sleep(10 * SENNIT_MICROSECOND);
		sennit_wait_group_wait(&work.done);
		if (work.sum != TASKS / 2)
			return 3;
	}
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 4 : 0;
}

static int labour_without(const struct refusal *refusals, unsigned count,
			  uint32_t workers)
{
	for (unsigned i = 0; i < count; i++)
		if (!refuse(&refusals[i]))
			return SKIPPED;
	return labour(workers);
}

static void works_without(struct world *w, const struct refusal *refusals,
			  unsigned count)
{
	const pid_t child = begin_child();
	int         status;

	if (!child)
		_exit(labour_without(refusals, count, w->workers));
	status = await_child(child);
	skip_if_told(status, "no filters of system calls here");
	assert_int_equal(status, 0);
}

/* --- fork and join ------------------------------------------------------- */

SENNIT_FORK(unsigned, sees_mark, sennit_local_key *, key)
{
	return sennit_local_get(*key) == key;
}

/* A child that was not stolen is part of its caller's task, and sees its local
 * values. */
SENNIT_FORK(unsigned, mark_and_join, sennit_local_key *, key)
{
	unsigned seen = 0;

	for (int i = 0; i < 10; i++) {
		SENNIT_FORK_SPAWN(sees_mark, child, key);
		seen += SENNIT_FORK_SYNC(sees_mark, child);
	}
	return seen;
}

static unsigned seen_in_place;

static void join_in_place(void *argument)
{
	sennit_local_key *key = argument;

	if (sennit_local_set(*key, key))
		abort();
	seen_in_place = SENNIT_FORK_RUN(mark_and_join, key);
}

static int labour_of_joins(void)
{
	static const struct refusal denied = { .call = SYS_membarrier,
					       .error = EPERM };
	sennit_local_key            key;
	const sennit_task task = { .run = join_in_place, .argument = &key };
	sennit_scheduler *s;

	if (!refuse(&denied))
		return SKIPPED;
	if (sennit_local_key_create(&key, NULL) ||
	    sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_schedule_task_on(s, &task) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return seen_in_place ? 0 : 2;
}

static void expect_of_a_child(int (*labour_there)(void))
{
	const pid_t child = begin_child();
	int         status;

	if (!child)
		_exit(labour_there());
	status = await_child(child);
	skip_if_told(status, "no filters of system calls here");
	assert_int_equal(status, 0);
}

TEST(joins_in_place_without_membarrier)
{
	expect_of_a_child(labour_of_joins);
}

static void be_robbed_without_room(void *unused)
{
	EXPECT(!macros_have_room());
	run_thefts(unused);
}

static int labour_of_thefts(void)
{
	static const struct refusal denied = { .call = SYS_membarrier,
					       .error = EPERM };
	const sennit_task           task = { .run = be_robbed_without_room };
	sennit_scheduler           *s;

	if (!refuse(&denied))
		return SKIPPED;
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_schedule_task_on(s, &task) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return atomic_load(&broken_claims) ? 2 : 0;
}

TEST(calls_are_stolen_without_membarrier)
{
	expect_of_a_child(labour_of_thefts);
}

/* --- what is refused, one by one ----------------------------------------- */

TEST_WITH_COUNTS(works_without_membarrier)
{
	static const struct refusal unknown = { .call = SYS_membarrier,
						.error = ENOSYS };
	static const struct refusal denied = { .call = SYS_membarrier,
					       .error = EPERM };

	works_without(w, &unknown, 1);
	works_without(w, &denied, 1);
}

TEST_WITH_COUNTS(works_without_guards_in_batches)
{
	static const struct refusal denied = { .call = SYS_process_madvise,
					       .error = EPERM };

	works_without(w, &denied, 1);
}

TEST_WITH_COUNTS(works_without_cheap_guards)
{
	static const struct refusal old[] = {
		{ .call = SYS_madvise,
		  .advice = GUARD_INSTALL,
		  .error = EINVAL },
		{ .call = SYS_process_madvise, .error = EINVAL },
	};

	works_without(w, old, 2);
}

TEST_WITH_COUNTS(works_without_any_advice)
{
	static const struct refusal old[] = {
		{ .call = SYS_madvise, .error = EINVAL },
		{ .call = SYS_process_madvise, .error = ENOSYS },
	};

	works_without(w, old, 2);
}

TEST_WITH_COUNTS(works_without_knowing_its_cpus)
{
	static const struct refusal denied = { .call = SYS_sched_getaffinity,
					       .error = EPERM };

	works_without(w, &denied, 1);
}

/* The files of control groups, of mappings, and of the library that prints
 * backtraces. */
TEST_WITH_COUNTS(works_without_opening_files)
{
	static const struct refusal denied = { .call = SYS_openat,
					       .error = EACCES };

	works_without(w, &denied, 1);
}

TEST_WITH_COUNTS(works_without_asking_for_limits)
{
	static const struct refusal denied = { .call = SYS_prlimit64,
					       .error = EPERM };

	works_without(w, &denied, 1);
}

/* This filter must be the last one, because it denies the system call that
 * installs filters. */
TEST_WITH_COUNTS(works_without_names_of_threads)
{
	static const struct refusal denied = { .call = SYS_prctl,
					       .error = EPERM };

	works_without(w, &denied, 1);
}

TEST_WITH_COUNTS(works_without_a_stack_for_signals)
{
	static const struct refusal denied = { .call = SYS_sigaltstack,
					       .error = EPERM };

	works_without(w, &denied, 1);
}

TEST_WITH_COUNTS(works_without_all_of_these)
{
	static const struct refusal all[] = {
		{ .call = SYS_membarrier, .error = ENOSYS },
		{ .call = SYS_process_madvise, .error = ENOSYS },
		{ .call = SYS_madvise,
		  .advice = GUARD_INSTALL,
		  .error = EINVAL },
		{ .call = SYS_sched_getaffinity, .error = EPERM },
		{ .call = SYS_sigaltstack, .error = EPERM },
		{ .call = SYS_openat, .error = EACCES },
		{ .call = SYS_prlimit64, .error = EPERM },
		{ .call = SYS_prctl, .error = EPERM },
	};

	works_without(w, all, 8);
}

#endif
