/* SPDX-License-Identifier: Apache-2.0 */
/* wakes.c - what scheduling and idling ask of the system: counted, not timed.
 *
 * syscall() is replaced here by one that counts the calling thread's futex
 * wakes, and the workers that sleep without a deadline.
 */
#include "with_workers.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* --- a syscall that counts ---------------------------------------------- */

static _Thread_local bool     is_worker; /* told by the scheduler */
static _Thread_local unsigned wakes;     /* by this thread */
static atomic_uint            wakes_of_all;
static atomic_uint            endless; /* workers asleep without a deadline */

typedef long syscall_fn(long number, ...);

static long next_syscall(const long a[7])
{
	static _Atomic(syscall_fn *) next;
	syscall_fn                  *call = atomic_load(&next);

	if (!call) {
		*(void **)&call = dlsym(RTLD_NEXT, "syscall");
		atomic_store(&next, call);
	}
	return call(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

long syscall(long number, ...)
{
	long    a[7] = { number };
	bool    futex = number == SYS_futex;
	bool    sleeps;
	long    result;
	va_list args;

	va_start(args, number);
	for (int i = 1; i < 7; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (futex && (a[2] & FUTEX_CMD_MASK) == FUTEX_WAKE) {
		wakes++;
		atomic_fetch_add(&wakes_of_all, 1);
	}
	sleeps = futex && is_worker && !a[4] &&
		 (a[2] & FUTEX_CMD_MASK) != FUTEX_WAKE;
	if (sleeps)
		atomic_fetch_add(&endless, 1);
	result = next_syscall(a);
	if (sleeps)
		atomic_fetch_sub(&endless, 1);
	return result;
}

/* --- claims ------------------------------------------------------------- */

static void note_worker(void *unused, uint32_t index)
{
	(void)unused;
	(void)index;
	is_worker = true;
}

static sennit_scheduler *start_counted(uint32_t workers)
{
	atomic_store(&endless, 0);
	return start_with(
		SENNIT_CONFIG(.workers = workers, .thread_init = note_worker));
}

static void idle_workers_end_up_asleep_without_a_deadline(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_counted(w->workers);

	assert_soon(atomic_load(&endless) == w->workers);
	end_scheduler(s);
}

static void finish(void *done)
{
	sennit_wait_group_done(done);
}

enum { BATCH = 100 };

/* How often the caller wakes somebody while it schedules `count` tasks, singly
 * or at once. Never, should a worker that slept have been woken just before:
 * that one counts as a searcher already. */
static unsigned wakes_for(sennit_scheduler *s, sennit_wait_group *done,
			  unsigned count, bool at_once)
{
	sennit_task tasks[BATCH];
	unsigned    i;

	sennit_wait_group_init(done, count);
	for (i = 0; i < count; i++)
		tasks[i] = (sennit_task){ .run = finish, .argument = done };
	wakes = 0;
	if (at_once)
		EXPECT(sennit_enqueue_many(s, tasks, count) == 0);
	for (i = 0; i < count && !at_once; i++)
		EXPECT(sennit_enqueue(s, &tasks[i]) == 0);
	return wakes;
}

static void one_task_wakes_one_worker_at_most(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_counted(w->workers);
	sennit_wait_group   done;
	unsigned            round;

	for (round = 0; round < 10; round++) {
		assert_soon(atomic_load(&endless) == w->workers);
		atomic_store(&wakes_of_all, 0);
		assert_in_range(wakes_for(s, &done, 1, round % 2), 0, 1);
		assert_soon(sennit_wait_group_wait_until(&done, 0) == 0);
		assert_soon(atomic_load(&endless) == w->workers);
		assert_in_range(atomic_load(&wakes_of_all), 0, 1);
	}
	end_scheduler(s);
}

static void a_batch_wakes_one_worker_at_most(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_counted(w->workers);
	sennit_wait_group   done;
	unsigned            round;

	for (round = 0; round < 10; round++) {
		assert_soon(atomic_load(&endless) == w->workers);
		assert_in_range(wakes_for(s, &done, BATCH, true), 0, 1);
		assert_soon(sennit_wait_group_wait_until(&done, 0) == 0);
	}
	end_scheduler(s);
}

static void tasks_wake_no_more_than_one_worker_each(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_counted(w->workers);
	sennit_wait_group   done;
	unsigned            round;

	for (round = 0; round < 10; round++) {
		assert_soon(atomic_load(&endless) == w->workers);
		assert_in_range(wakes_for(s, &done, BATCH, false), 0, BATCH);
		assert_soon(sennit_wait_group_wait_until(&done, 0) == 0);
	}
	end_scheduler(s);
}

struct inside {
	sennit_wait_group over;
	uint32_t          workers;
	unsigned          woken;
};

/* On a worker, with all others asleep. */
static void schedule_inside(void *argument)
{
	struct inside    *in = argument;
	sennit_wait_group done;

	while (atomic_load(&endless) < in->workers - 1)
		sched_yield();
	in->woken = wakes_for(sennit_current(), &done, BATCH, true);
	sennit_wait_group_wait(&done);
	sennit_wait_group_done(&in->over);
}

static void so_does_one_of_a_task(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_counted(w->workers);
	struct inside       in = { .workers = w->workers };
	const sennit_task   t = { .run = schedule_inside, .argument = &in };
	unsigned            round;

	for (round = 0; round < 10; round++) {
		sennit_wait_group_init(&in.over, 1);
		assert_int_equal(sennit_enqueue(s, &t), 0);
		sennit_wait_group_wait(&in.over);
		assert_in_range(in.woken, 0, w->workers > 1);
	}
	end_scheduler(s);
}

#define COUNTED(f)                                           \
	CASE_(f, "_w1", open_count, close_count, 1),         \
		CASE_(f, "_w2", open_count, close_count, 2), \
		CASE_(f, "_w8", open_count, close_count, 3)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNTED(idle_workers_end_up_asleep_without_a_deadline),
		COUNTED(one_task_wakes_one_worker_at_most),
		COUNTED(a_batch_wakes_one_worker_at_most),
		COUNTED(tasks_wake_no_more_than_one_worker_each),
		COUNTED(so_does_one_of_a_task),
	};

	return cmocka_run_group_tests_name("api/wakes", tests, NULL, NULL);
}
