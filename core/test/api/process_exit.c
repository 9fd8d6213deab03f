/* SPDX-License-Identifier: Apache-2.0 */
/* process_exit.c - exit() while schedulers exist ends the process with its
 * status, wherever it is called and whatever workers and fibers do.
 *
 * Each case runs in a child. The parent itself starts no thread.
 */
#include "testing/child.h"
#include "testing/with_workers.h"

#include <signal.h>

enum { STATUS = 42 };

/* LeakSanitizer would rely on pointers of other threads, which are still
 * running. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

/* ThreadSanitizer would sleep for 1 s at the end of each child. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}

struct end_clients {
	uint32_t workers;
	void (*leave)(struct end_clients *e); /* ends by exit(STATUS) */
	sennit_scheduler *s;                  /* the caller is bound to it */
	sennit_event      never;
	sennit_mutex      held;
	sennit_wait_group asleep;
	atomic_uint       busy;
};

/* --- concurrent activity ------------------------------------------------ */

static void wait_for_ever(void *argument)
{
	struct end_clients *e = argument;

	sennit_wait_group_done(&e->asleep);
	EXPECT(!sennit_event_wait(&e->never));
}

static void wait_for_long(void *argument)
{
	struct end_clients *e = argument;

	sennit_wait_group_done(&e->asleep);
	(void)!sennit_event_wait_until(&e->never,
				       sennit_after(1000 * SENNIT_SECOND));
}

/* The first caller gets the mutex and never unlocks it. */
static void wait_for_the_mutex(void *argument)
{
	struct end_clients *e = argument;

	sennit_wait_group_done(&e->asleep);
	sennit_mutex_lock(&e->held);
	EXPECT(!sennit_event_wait(&e->never));
}

static void *pause_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void call_for_ever(void *argument)
{
	struct end_clients *e = argument;

	sennit_wait_group_done(&e->asleep);
	sennit_blocking_call(pause_for_ever, e);
}

static void work_for_ever(void *argument)
{
	struct end_clients *e = argument;

	atomic_fetch_add(&e->busy, 1);
	while (atomic_load(&e->busy))
		;
}

static void spawn_for_ever(void *argument)
{
	must_schedule(spawn_for_ever, argument);
}

/* Thirty fibers that are never woken. */
static void put_to_sleep(struct end_clients *e)
{
	static sennit_task_fn *const waits[] = { wait_for_ever, wait_for_long,
						 wait_for_the_mutex,
						 call_for_ever };

	sennit_wait_group_init(&e->asleep, 30);
	for (int i = 0; i < 30; i++)
		must_schedule(waits[i % 4], e);
	sennit_wait_group_wait(&e->asleep);
}

/* Occupy all workers except one. Tasks that never end have begun when this
 * returns. Otherwise they could begin on the worker of the fiber that ends the
 * process. */
static void keep_busy(struct end_clients *e)
{
	if (e->workers == SENNIT_WORKERS_NONE)
		return;
	for (uint32_t i = 1; i < e->workers; i++)
		must_schedule(i % 2 ? work_for_ever : spawn_for_ever, e);
	while (atomic_load(&e->busy) < e->workers / 2)
		sennit_yield();
}

/* --- from where --------------------------------------------------------- */

static void leave_bound(struct end_clients *e)
{
	exit(STATUS);
}

static void *leave_as_thread(void *argument)
{
	leave_bound(argument);
	return NULL;
}

static void leave_from_an_unbound_thread(struct end_clients *e)
{
	pthread_join(must_start_thread(leave_as_thread, e), NULL);
}

static void leave_in_a_task(void *argument)
{
	leave_bound(argument);
}

static void leave_from_a_task(struct end_clients *e)
{
	must_schedule(leave_in_a_task, e);
	EXPECT(!sennit_event_wait(&e->never));
}

static void leave_after_a_wait(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	leave_bound(argument);
}

static void leave_from_a_resumed_task(struct end_clients *e)
{
	must_schedule(leave_after_a_wait, e);
	EXPECT(!sennit_event_wait(&e->never));
}

static void leave_from_a_task_of_the_bound_thread(struct end_clients *e)
{
	must_schedule_here(leave_in_a_task, e);
	EXPECT(!sennit_event_wait(&e->never));
}

static void leave_unbound(struct end_clients *e)
{
	sennit_thread_unbind();
	exit(STATUS);
}

static void leave_released(struct end_clients *e)
{
	sennit_scheduler *s = e->s;

	sennit_thread_unbind();
	sennit_scheduler_release(s);
	exit(STATUS);
}

static void leave_from_a_call(struct end_clients *e)
{
	sennit_blocking_call(leave_as_thread, e);
}

/* --- in a child --------------------------------------------------------- */

_Noreturn static void live_and_leave(struct end_clients *e, bool asleep)
{
	sennit_event_init(&e->never, SENNIT_EVENT_MANUAL);
	if (sennit_scheduler_create(&e->s,
				    SENNIT_CONFIG(.workers = e->workers)) ||
	    sennit_thread_bind(e->s))
		_exit(3);
	if (asleep)
		put_to_sleep(e);
	keep_busy(e);
	e->leave(e);
	_exit(4);
}

static void assert_leaves(const struct world *w,
			  void (*leave)(struct end_clients *e), bool asleep)
{
	struct end_clients e = { .workers = w->workers, .leave = leave };
	const pid_t        child = begin_child();
	int                status;

	if (!child)
		live_and_leave(&e, asleep);
	status = await_child(child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS)
		fail_msg("child ended with %#x", (unsigned)status);
}

TEST_WITH_COUNTS(a_bound_thread_exits)
{
	assert_leaves(w, leave_bound, false);
	assert_leaves(w, leave_bound, true);
}

TEST_WITH_COUNTS(an_unbound_thread_exits)
{
	assert_leaves(w, leave_from_an_unbound_thread, false);
	assert_leaves(w, leave_from_an_unbound_thread, true);
}

TEST_WITH_COUNTS(the_main_thread_exits_after_unbinding)
{
	assert_leaves(w, leave_unbound, false);
	assert_leaves(w, leave_released, false);
	if (w->threads) {
		assert_leaves(w, leave_unbound, true);
		assert_leaves(w, leave_released, true);
	}
}

TEST_WITH_COUNTS(a_task_exits)
{
	assert_leaves(w, leave_from_a_task, false);
	assert_leaves(w, leave_from_a_task, true);
	assert_leaves(w, leave_from_a_resumed_task, false);
	assert_leaves(w, leave_from_a_resumed_task, true);
}

TEST_WITH_COUNTS(a_task_of_the_bound_thread_exits)
{
	assert_leaves(w, leave_from_a_task_of_the_bound_thread, false);
	assert_leaves(w, leave_from_a_task_of_the_bound_thread, true);
}

TEST_WITH_COUNTS(a_blocking_call_exits)
{
	assert_leaves(w, leave_from_a_call, false);
	assert_leaves(w, leave_from_a_call, true);
}
