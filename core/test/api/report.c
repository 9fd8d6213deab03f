/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what reports and their text say that fibers wait for. */
#include "report_search.h"
#include "testing/words.h"

#include <errno.h>
#include <inttypes.h>

/* --- waits -------------------------------------------------------------- */

static bool is_over(void *argument)
{
	return atomic_load(&((struct things *)argument)->over);
}

static void wait_for_group(void *argument)
{
	struct things *t = argument;

	sennit_wait_group_wait(&t->group);
	sennit_wait_group_done(&t->all);
}

static void wait_for_mutex(void *argument)
{
	struct things *t = argument;

	sennit_mutex_lock(&t->mutex);
	sennit_mutex_unlock(&t->mutex);
	sennit_wait_group_done(&t->all);
}

static void wait_for_cond(void *argument)
{
	struct things *t = argument;

	sennit_mutex_lock(&t->of_cond);
	EXPECT(!sennit_cond_wait_until_true(&t->cond, &t->of_cond, is_over, t,
					    SENNIT_NEVER));
	sennit_mutex_unlock(&t->of_cond);
	sennit_wait_group_done(&t->all);
}

static void wait_for_notify(void *argument)
{
	struct things *t = argument;

	sennit_mutex_lock(&t->of_fiber);
	t->fiber = sennit_fiber_current();
	EXPECT(sennit_fiber_wait(&t->of_fiber, is_over, t, SENNIT_NEVER));
	sennit_mutex_unlock(&t->of_fiber);
	sennit_wait_group_done(&t->all);
}

static void wait_with_deadline(void *argument)
{
	struct things *t = argument;

	EXPECT(sennit_event_wait_until(&t->event, t->deadline) == 0);
	sennit_wait_group_done(&t->all);
}

static void wait_for_rwlock(void *argument)
{
	struct things *t = argument;

	sennit_rwlock_lock_shared(&t->rwlock);
	sennit_rwlock_unlock_shared(&t->rwlock);
	sennit_wait_group_done(&t->all);
}

static void wait_for_barrier(void *argument)
{
	struct things *t = argument;

	(void)sennit_barrier_wait(&t->barrier);
	sennit_wait_group_done(&t->all);
}

static void be_first(void *argument)
{
	EXPECT(!sennit_event_wait(argument));
}

static void run_once(void *argument)
{
	struct things *t = argument;

	sennit_once_call(&t->once, be_first, &t->first);
	sennit_wait_group_done(&t->all);
}

static void wait_for_once(void *argument)
{
	run_once(argument);
}

static void wake_all(struct things *t)
{
	sennit_rwlock_unlock(&t->rwlock);
	(void)sennit_barrier_wait(&t->barrier);
	sennit_event_set(&t->first);
	sennit_event_set(&t->event);
	EXPECT(sennit_wait_group_done(&t->group));
	sennit_mutex_unlock(&t->mutex);
	atomic_store(&t->over, true);
	sennit_mutex_lock(&t->of_cond);
	sennit_cond_notify_all(&t->cond);
	sennit_mutex_unlock(&t->of_cond);
	sennit_mutex_lock(&t->of_fiber);
	sennit_fiber_notify(t->fiber);
	sennit_mutex_unlock(&t->of_fiber);
}

TEST_WITH_WORKERS(each_wait_is_named_with_its_object)
{
	struct things t = { .deadline = sennit_after(GIVE_UP) };
	const struct {
		sennit_task_fn *task;
		uint32_t        waits_for;
		const void     *object;
	} waits[] = {
		{ wait_for_event, SENNIT_WAITS_FOR_EVENT, &t.event },
		{ wait_for_group, SENNIT_WAITS_FOR_WAIT_GROUP, &t.group },
		{ wait_for_mutex, SENNIT_WAITS_FOR_MUTEX, &t.mutex },
		{ wait_for_cond, SENNIT_WAITS_FOR_COND, &t.cond },
		{ wait_for_notify, SENNIT_WAITS_FOR_NOTIFY, &t.of_fiber },
		{ wait_with_deadline, SENNIT_WAITS_FOR_EVENT, &t.event },
		{ wait_for_rwlock, SENNIT_WAITS_FOR_RWLOCK, &t.rwlock },
		{ wait_for_barrier, SENNIT_WAITS_FOR_BARRIER, &t.barrier },
		{ run_once, SENNIT_WAITS_FOR_EVENT, &t.first },
		{ wait_for_once, SENNIT_WAITS_FOR_ONCE, &t.once },
	};
	enum { COUNT = sizeof(waits) / sizeof(*waits) };
	const sennit_time begun = sennit_now();

	sennit_wait_group_init(&t.group, 1);
	sennit_wait_group_init(&t.all, COUNT);
	sennit_mutex_lock(&t.mutex);
	sennit_rwlock_lock(&t.rwlock);
	sennit_barrier_init(&t.barrier, 2);
	for (unsigned i = 0; i < COUNT; i++) {
		sennit_report_entry e;

		must_schedule(waits[i].task, &t);
		assert_soon(is_blocked(w->s, waits[i].task, waits[i].waits_for,
				       &e));
		assert_ptr_equal(e.object, waits[i].object);
		assert_true(is_at_home(w, &e));
		assert_int_not_equal(e.fiber, 0);
		assert_true(e.since <= sennit_now());
		assert_true(e.since + GIVE_UP > begun);
		assert_true(e.deadline == (waits[i].task == wait_with_deadline
						   ? t.deadline
						   : SENNIT_NEVER));
	}
	wake_all(&t);
	sennit_wait_group_wait(&t.all);
	for (unsigned i = 0; i < COUNT; i++) {
		struct search look = { .task = waits[i].task, .any = true };

		assert_soon((look.count = 0,
			     sennit_report_visit(w->s, compare, &look),
			     !look.count));
	}
}

static _Atomic sennit_time wake_time;

static void sleep_long(void *argument)
{
	wake_time = sennit_after(100 * SENNIT_MILLISECOND);
	sennit_sleep_until(wake_time);
}

static void see_sleeper(void *argument)
{
	sennit_scheduler   *s = argument;
	sennit_report_entry e;

	must_schedule_here(sleep_long, NULL);
	EXPECT_SOON(is_blocked(s, sleep_long, SENNIT_WAITS_FOR_TIME, &e) ||
		    (wake_time && sennit_now() >= wake_time));
	if (sennit_now() < wake_time) {
		EXPECT(e.deadline == wake_time);
		EXPECT(!e.object);
	}
}

TEST_WITH_WORKERS(a_sleeper_tells_when_it_wakes)
{
	wake_time = 0;
	in_a_task(see_sleeper, w->s);
}

/* --- the end ------------------------------------------------------------ */

TEST_WITH_THREAD_COUNTS(who_gave_up_on_the_end_may_ask_why)
{
	sennit_scheduler   *s = start_scheduler(w->workers);
	struct things       t = { .deadline = SENNIT_NEVER };
	const sennit_task   task = { .run = wait_for_event, .argument = &t };
	sennit_report_entry e;

	sennit_wait_group_init(&t.all, 1);
	assert_int_equal(sennit_schedule_task_on(s, &task), 0);
	assert_int_equal(sennit_scheduler_shutdown(s, 0), -ETIMEDOUT);
	assert_soon(is_blocked(s, wait_for_event, SENNIT_WAITS_FOR_EVENT, &e));
	assert_ptr_equal(e.object, &t.event);
	sennit_event_set(&t.event);
	end_scheduler(s);
}

/* --- text --------------------------------------------------------------- */

TEST_WITH_THREAD_COUNTS(the_text_names_who_waits_for_what)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	struct things     t = { .deadline = SENNIT_NEVER };
	const sennit_task task = { .run = wait_for_event, .argument = &t };
	char              text[4096], object[64], address[32], number[32];
	unsigned          worker, thread, fiber;

	/* How a program without names of functions is named. */
	snprintf(address, sizeof(address), "%#" PRIxPTR,
		 (uintptr_t)wait_for_event);
	snprintf(number, sizeof(number), "function %" PRIuPTR,
		 (uintptr_t)wait_for_event);
	sennit_wait_group_init(&t.all, 1);
	assert_soon(!strcmp(printed_report(s, text, sizeof(text)),
			    "nothing runs or waits\n"));
	assert_int_equal(sennit_report_print(s, -1), -EBADF);
	assert_int_equal(sennit_schedule_task_on(s, &task), 0);
	snprintf(object, sizeof(object),
		 ": waits for event %#" PRIxPTR ", for ", (uintptr_t)&t.event);
	/* No other entries: the worker it was stolen from may have been listed
	 * before. */
	assert_soon(sscanf(printed_report(s, text, sizeof(text)),
			   "sennit worker %u, thread %u, fiber %u:", &worker,
			   &thread, &fiber) == 3 &&
		    strstr(text, object));
	assert_true(worker < w->threads);
	assert_true(strstr(text, "test_api+0x") || strstr(text, "report+0x") ||
		    strstr(text, "wait_for_") ||
		    strstr(text, "report.exe+0x") || strstr(text, address) ||
		    strstr(text, number));
	assert_soon(strstr(printed_report(s, text, sizeof(text)),
			   "nothing in the scheduler can wake any of them\n"));
	sennit_event_set(&t.event);
	end_scheduler(s);
}
