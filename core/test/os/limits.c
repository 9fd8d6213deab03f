/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - a process that gets no more memory or threads: the library reports
 * the lack or works without, and loses no accepted task. Each limit applies to
 * a child.
 */
#include "testing/with_workers.h"
#include "testing/child.h"

#include <errno.h>
#include <sys/resource.h>

#if defined(SN_ASAN) || defined(SN_TSAN)

SKIP_ALL("sanitizers need memory without end");

#else

enum { TASKS = 3000, NOBODY = 65534 };

#define ROOM ((rlim_t)24 << 20)

static struct {
	sennit_wait_group done;
	sennit_event      go;
	unsigned          accepted;
	atomic_uint       ran;
} work;

static void block(void *unused)
{
	EXPECT(!sennit_event_wait(&work.go));
	atomic_fetch_add(&work.ran, 1);
	sennit_wait_group_done(&work.done);
}

static void let_go(void *unused)
{
	sennit_event_set(&work.go);
	atomic_fetch_add(&work.ran, 1);
	sennit_wait_group_done(&work.done);
}

static void *be_called(void *argument)
{
	return argument;
}

/* More tasks block than there may be stacks. Then threads block, and only a
 * thread from outside can wake them all. */
static int labour(sennit_scheduler *s)
{
	const sennit_task task = { .run = block };

	const int err = sennit_thread_bind(s);

	if (err)
		return err == -ENOMEM && !sennit_scheduler_shutdown(
						 s, SENNIT_NEVER)
			       ? 0
			       : 10;
	for (unsigned i = 0; i < TASKS; i++) {
		const int refused = sennit_schedule_task_on(s, &task);

		if (refused && refused != -ENOMEM)
			return 11;
		work.accepted += !refused;
		sennit_wait_group_add(&work.done, !refused);
	}
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_event_set(&work.go);
	sennit_wait_group_wait(&work.done);
	if (sennit_blocking_call(be_called, &work) != &work)
		return 12;
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)))
		return 13;
	return work.accepted == atomic_load(&work.ran) ? 0 : 14;
}

/* --- memory -------------------------------------------------------------- */

static size_t address_space(void)
{
	FILE         *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* If there is no memory for the scheduler itself, creating it fails. */
static int work_in_little_room(const struct world *w, rlim_t room)
{
	const struct rlimit limit = { address_space() + room, RLIM_INFINITY };
	sennit_scheduler   *s;
	int                 err;

	if (setrlimit(RLIMIT_AS, &limit))
		return SKIPPED;
	err = sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = w->workers));
	if (err)
		return err == -ENOMEM || err == -EAGAIN ? 0 : 1;
	return labour(s);
}

/* --- threads ------------------------------------------------------------- */

/* The user `nobody` has few processes, and root is exempt from the limit. */
static bool allow_threads(rlim_t count)
{
	const struct rlimit limit = { count, count };

	return (geteuid() || !setuid(NOBODY)) &&
	       !setrlimit(RLIMIT_NPROC, &limit);
}

static void *be_there(void *unused)
{
	return unused;
}

static bool is_thread_refused(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, be_there, NULL))
		return true;
	pthread_join(t, NULL);
	return false;
}

static int work_without_threads(const struct world *w, rlim_t unused)
{
	sennit_scheduler *s;
	int               err;

	if (!allow_threads(1) || !is_thread_refused())
		return SKIPPED;
	err = sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = w->workers));
	if (w->threads)
		return err == -EAGAIN ? 0 : 2;
	if (err || sennit_thread_bind(s))
		return 3;
	sennit_wait_group_add(&work.done, 2);
	if (sennit_schedule(block, NULL) || sennit_schedule(let_go, NULL))
		return 4;
	sennit_wait_group_wait(&work.done);
	/* The call runs in place, because no blocking thread can start. */
	if (sennit_blocking_call(be_called, &work) != &work)
		return 5;
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)))
		return 6;
	return atomic_load(&work.ran) == 2 ? 0 : 7;
}

/* --- children ------------------------------------------------------------ */

static void works(const struct world *w,
		  int (*life)(const struct world *, rlim_t), rlim_t limit)
{
	const pid_t child = begin_child();
	int         status;

	if (!child)
		_exit(life(w, limit));
	status = await_child(child);
	skip_if_told(status, "this limit does not hold here");
	assert_int_equal(status, 0);
}

TEST_WITH_COUNTS(little_address_space_is_enough)
{
	works(w, work_in_little_room, ROOM);
	works(w, work_in_little_room, 4 * ROOM);
	works(w, work_in_little_room, 16 * ROOM);
}

TEST_WITH_COUNTS(no_address_space_is_said)
{
	works(w, work_in_little_room, 0);
	works(w, work_in_little_room, 1 << 20);
}

TEST_WITH_COUNTS(threads_that_are_refused_are_said_or_done_without)
{
	works(w, work_without_threads, 0);
}

#endif
