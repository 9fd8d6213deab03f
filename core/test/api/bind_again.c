/* SPDX-License-Identifier: Apache-2.0 */
/* bind_again.c - a thread that binds where another has unbound allocates
 * nothing and makes no system call; what it finds is as new. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

#include "base/torture.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* --- memory ------------------------------------------------------------- */

static void bind_once(sennit_scheduler *s)
{
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_thread_unbind();
}

static sennit_scheduler *start_with_allocator(struct counting_allocator *tally,
					      uint32_t workers)
{
	const sennit_allocator a = COUNTING_ALLOCATOR(tally);
	sennit_scheduler      *s;

	assert_int_equal(
		sennit_scheduler_create(
			&s, SENNIT_CONFIG(.workers = workers, .allocator = &a)),
		0);
	return s;
}

TEST_WITH_COUNTS(it_allocates_nothing)
{
	struct counting_allocator tally = { .failing = 0 };
	sennit_scheduler         *s = start_with_allocator(&tally, w->workers);
	unsigned                  calls;

	bind_once(s);
	calls = atomic_load(&tally.calls);
	for (int i = 0; i < 100; i++)
		bind_once(s);
	assert_int_equal(atomic_load(&tally.calls), calls);
	end_scheduler(s);
	assert_int_equal(atomic_load(&tally.live), 0);
}

TEST_WITH_COUNTS(trimming_gives_the_memory_back)
{
	struct counting_allocator tally = { .failing = 0 };
	sennit_scheduler         *s = start_with_allocator(&tally, w->workers);
	long                      live;

	bind_once(s);
	live = atomic_load(&tally.live);
	sennit_scheduler_trim(s);
	assert_soon(atomic_load(&tally.live) < live);
	bind_once(s);
	end_scheduler(s);
	assert_int_equal(atomic_load(&tally.live), 0);
}

/* --- as new ------------------------------------------------------------- */

static void sleep_and_count(void *count)
{
	sennit_sleep(SENNIT_MILLISECOND);
	atomic_fetch_add((atomic_uint *)count, 1);
}

/* Each thread leaves a worker that has had tasks, timers and fibers. */
static void *work_bound(void *scheduler)
{
	atomic_uint count = 0;

	EXPECT(!sennit_thread_bind(scheduler));
	for (int i = 0; i < 20; i++)
		must_schedule(sleep_and_count, &count);
	sennit_sleep(2 * SENNIT_MILLISECOND);
	sennit_thread_unbind(); /* runs those that are left */
	EXPECT(SOON(atomic_load(&count) == 20));
	return NULL;
}

TEST_WITH_COUNTS(thread_after_thread_works)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	sennit_stats      stats = { .size = sizeof(stats) };
	pthread_t         thread[2];

	for (int i = 0; i < 10; i++) {
		for (int t = 0; t < 2; t++)
			assert_int_equal(
				pthread_create(&thread[t], NULL, work_bound, s),
				0);
		for (int t = 0; t < 2; t++)
			pthread_join(thread[t], NULL);
	}
	assert_soon(
		(sennit_scheduler_get_stats(s, &stats), stats.tasks == 400));
	assert_int_equal(stats.fibers, 0);
	end_scheduler(s);
}

/* --- system calls ------------------------------------------------------- */

/* The kernel ends a thread in this mode that makes another system call than
 * read, write, and exit. Sanitizers and Valgrind make calls of their own, and
 * under torture it yields. */
#if defined(SN_ASAN) || defined(SN_TSAN)
enum { CAN_FORBID = 0 };
#else
#define CAN_FORBID TORTURED(false, true)
#endif

/* What became of the thread: it could not forbid calls, or it came to its last
 * one. */
enum { BEGUN, CANNOT, SURVIVED };

struct strict {
	sennit_scheduler *s;
	atomic_uint       state;
};

static void *bind_strictly(void *argument)
{
	struct strict *t = argument;

	for (int i = 0; i < 3; i++) {
		EXPECT(!sennit_thread_bind(t->s));
		sennit_thread_unbind();
	}
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) {
		atomic_store(&t->state, CANNOT);
		return NULL;
	}
	for (int i = 0; i < 100; i++) {
		EXPECT(!sennit_thread_bind(t->s));
		sennit_thread_unbind();
	}
	atomic_store(&t->state, SURVIVED);
	syscall(SYS_exit, 0); /* libc would make other calls */
	return NULL;
}

TEST_WITH_COUNTS(it_makes_no_system_call)
{
	struct strict t = { .s = start_scheduler(w->workers) };
	pthread_t     thread;

	if (!CAN_FORBID || under_valgrind())
		skip();
	assert_int_equal(pthread_create(&thread, NULL, bind_strictly, &t), 0);
	pthread_detach(thread); /* musl does not know that it has ended */
	assert_soon(atomic_load(&t.state) != BEGUN);
	if (atomic_load(&t.state) == CANNOT)
		skip(); /* an emulator */
	end_scheduler(t.s);
}
