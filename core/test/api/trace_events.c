/* SPDX-License-Identifier: Apache-2.0 */
/* trace_events.c - what a trace says of a program whose events are known. */
#include "find_metric.h"
#include "sennit/trace.h"

#include <errno.h>

/* --- tasks --------------------------------------------------------------- */

enum { TASKS = 300 };

static sennit_wait_group left;

static void work(void *number)
{
	sennit_wait_group_done(&left);
}

static void spawn_half(void *first)
{
	for (uintptr_t i = 0; i < TASKS / 2; i++)
		EXPECT(!sennit_schedule(work, (char *)first + i));
	sennit_wait_group_done(&left);
}

/* From the bound thread, and from a task. */
static void run_tasks(void)
{
	sennit_wait_group_init(&left, TASKS + 1);
	for (uintptr_t i = 1; i <= TASKS / 2; i++)
		assert_int_equal(sennit_schedule(work, (void *)i), 0);
	assert_int_equal(sennit_schedule(spawn_half, (void *)1000), 0);
	sennit_wait_group_wait(&left);
}

/* Whether the event after the begin, on its fiber, that is about tasks, ends
 * that one. */
static bool is_ended(const struct trace_file *f, const struct seen *begin)
{
	const struct seen *s = begin + 1;

	while (s < f->events + f->count &&
	       (s->ring != begin->ring || s->e.fiber != begin->e.fiber ||
		(s->e.kind != SENNIT_TRACED_TASK_BEGIN &&
		 s->e.kind != SENNIT_TRACED_TASK_END)))
		s++;
	return s < f->events + f->count &&
	       s->e.kind == SENNIT_TRACED_TASK_END && s->e.a == begin->e.a;
}

TEST_WITH_WORKERS(every_spawn_leads_to_one_begin_and_end)
{
	struct trace_file  f;
	const struct seen *spawn = NULL;
	size_t             spawns = 0;

	start(w->s);
	run_tasks();
	/* The last tasks may still be ending. */
	assert_soon((f = trace_of(w->s),
		     (trace_file_count(&f, SENNIT_TRACED_TASK_END,
				       (uintptr_t)work) == TASKS &&
		      trace_file_count(&f, SENNIT_TRACED_TASK_END,
				       (uintptr_t)spawn_half) == 1) ||
			     (trace_file_free(&f), false)));
	while ((spawn = trace_file_next(&f, spawn, SENNIT_TRACED_SPAWN, ANY))) {
		const struct seen *begin = trace_file_next(
			&f, NULL, SENNIT_TRACED_TASK_BEGIN, spawn->e.b);

		spawns += spawn->e.a == (uintptr_t)work;
		assert_non_null(begin);
		assert_true(begin->e.a == spawn->e.a);
		assert_null(trace_file_next(&f, begin, SENNIT_TRACED_TASK_BEGIN,
					    spawn->e.b));
		assert_true(is_ended(&f, begin));
		if (begin->ring == spawn->ring)
			assert_true(begin > spawn);
	}
	assert_int_equal(spawns, TASKS);
	assert_int_equal(
		trace_file_count(&f, SENNIT_TRACED_TASK_BEGIN, (uintptr_t)work),
		TASKS);
	trace_file_free(&f);
}

static int member(void *unused)
{
	sennit_wait_group_done(&left);
	return 0;
}

static void run_group(void *unused)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uintptr_t i = 1; i <= TASKS; i++)
		EXPECT(!sennit_group_spawn(&g, member, (void *)i));
	EXPECT(!sennit_group_wait(&g));
	sennit_wait_group_done(&left);
}

/* Members run as calls inside their opener's wait. */
TEST_WITH_WORKERS(members_of_groups_are_tasks)
{
	struct trace_file f;

	start(w->s);
	sennit_wait_group_init(&left, TASKS + 1);
	assert_int_equal(sennit_schedule(run_group, NULL), 0);
	sennit_wait_group_wait(&left);
	assert_soon((f = trace_of(w->s),
		     trace_file_count(&f, SENNIT_TRACED_TASK_END,
				      (uintptr_t)run_group) == 1 ||
			     (trace_file_free(&f), false)));
	for (uint32_t kind = SENNIT_TRACED_TASK_BEGIN;
	     kind <= SENNIT_TRACED_SPAWN; kind++)
		assert_int_equal(trace_file_count(&f, kind, (uintptr_t)member),
				 TASKS);
	trace_file_free(&f);
}

TEST_WITH_WORKERS(a_batch_is_recorded_like_single_tasks)
{
	sennit_task       tasks[TASKS];
	struct trace_file f;

	for (uintptr_t i = 0; i < TASKS; i++)
		tasks[i] = (sennit_task){ .run = work,
					  .argument = (void *)(i + 1),
					  .copy_size = 0 };
	start(w->s);
	sennit_wait_group_init(&left, TASKS);
	assert_int_equal(sennit_schedule_many(tasks, TASKS), 0);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	assert_int_equal(
		trace_file_count(&f, SENNIT_TRACED_SPAWN, (uintptr_t)work),
		TASKS);
	assert_int_equal(
		trace_file_count(&f, SENNIT_TRACED_TASK_BEGIN, (uintptr_t)work),
		TASKS);
	trace_file_free(&f);
}

/* --- waits --------------------------------------------------------------- */

enum { ROUNDS = 200 };

static sennit_event ping, pong;

static void play_ping(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		sennit_event_set(&pong);
		EXPECT(!sennit_event_wait(&ping));
	}
	sennit_wait_group_done(&left);
}

static void play_pong(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(!sennit_event_wait(&pong));
		sennit_event_set(&ping);
	}
	sennit_wait_group_done(&left);
}

/* The wake and the resumption of a wait. */
static const struct seen *wake_of(const struct trace_file *f,
				  const struct seen       *wait)
{
	const struct seen *wake = trace_file_next(f, NULL, SENNIT_TRACED_WAKE,
						  wait->e.b);
	const struct seen *resume =
		trace_file_next(f, NULL, SENNIT_TRACED_RESUME, wait->e.b);

	assert_non_null(wake);
	assert_null(trace_file_next(f, wake, SENNIT_TRACED_WAKE, wait->e.b));
	assert_true(wake->e.a == ((uint64_t)wait->ring << 32 | wait->e.fiber));
	assert_non_null(resume);
	assert_null(
		trace_file_next(f, resume, SENNIT_TRACED_RESUME, wait->e.b));
	assert_int_equal(resume->ring, wait->ring);
	assert_int_equal(resume->e.fiber, wait->e.fiber);
	assert_true(resume > wait);
	if (wake->ring == wait->ring)
		assert_true(wake < resume);
	return wake;
}

/* Checks all waits of a kind for an object. Returns their number. */
static size_t waits_for(const struct trace_file *f, uint32_t kind,
			const void *object, uint32_t cause)
{
	const struct seen *wait = NULL;
	size_t             n = 0;

	while ((wait = trace_file_next(f, wait, SENNIT_TRACED_WAIT, ANY))) {
		if (wait->e.detail != kind || wait->e.a != (uintptr_t)object)
			continue;
		n++;
		assert_int_equal(wake_of(f, wait)->e.detail, cause);
	}
	return n;
}

TEST_WITH_WORKERS(every_wait_has_a_wake_and_a_resumption)
{
	struct trace_file f;
	size_t            n;

	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	sennit_event_init(&pong, SENNIT_EVENT_AUTO);
	start(w->s);
	sennit_wait_group_init(&left, 2);
	assert_int_equal(sennit_schedule(play_ping, NULL), 0);
	assert_int_equal(sennit_schedule(play_pong, NULL), 0);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	n = waits_for(&f, SENNIT_WAITS_FOR_EVENT, &ping,
		      SENNIT_TRACE_WAKE_SIGNAL);
	n += waits_for(&f, SENNIT_WAITS_FOR_EVENT, &pong,
		       SENNIT_TRACE_WAKE_SIGNAL);
	if (w->threads <= 1)
		assert_true(n >= ROUNDS); /* each waits in nearly every round */
	trace_file_free(&f);
}

static void sleep_shortly(void *unused)
{
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_wait_group_done(&left);
}

TEST_WITH_WORKERS(a_sleep_is_woken_by_its_timer)
{
	struct trace_file f;

	start(w->s);
	sennit_wait_group_init(&left, 1);
	assert_int_equal(sennit_schedule(sleep_shortly, NULL), 0);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	assert_int_equal(waits_for(&f, SENNIT_WAITS_FOR_TIME, NULL,
				   SENNIT_TRACE_WAKE_TIMER),
			 1);
	trace_file_free(&f);
}

static sennit_mutex  lock;
static sennit_fiber *reader; /* under lock */
static bool          noted;  /* under lock */

static bool is_noted(void *unused)
{
	return noted;
}

static void read_note(void *unused)
{
	sennit_mutex_lock(&lock);
	reader = sennit_fiber_current();
	sennit_event_set(&pong);
	EXPECT(sennit_fiber_wait(&lock, is_noted, NULL, SENNIT_NEVER));
	sennit_mutex_unlock(&lock);
	sennit_wait_group_done(&left);
}

/* With the lock held its reader waits, if only for the lock. */
TEST_WITH_WORKERS(a_notified_fiber_is_woken_by_a_signal)
{
	struct trace_file f;

	noted = false;
	sennit_event_init(&pong, SENNIT_EVENT_AUTO);
	start(w->s);
	sennit_wait_group_init(&left, 1);
	assert_int_equal(sennit_schedule(read_note, NULL), 0);
	EXPECT(!sennit_event_wait(&pong));
	sennit_mutex_lock(&lock);
	noted = true;
	sennit_fiber_notify(reader);
	sennit_mutex_unlock(&lock);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	assert_int_equal(waits_for(&f, SENNIT_WAITS_FOR_NOTIFY, &lock,
				   SENNIT_TRACE_WAKE_SIGNAL),
			 1);
	trace_file_free(&f);
}

static int wait_for_cancel(void *unused)
{
	sennit_event_set(&pong);
	EXPECT(sennit_event_wait_until(&ping, SENNIT_NEVER) == -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_wait_is_woken_by_the_cancel)
{
	sennit_group      g;
	struct trace_file f;

	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	sennit_event_init(&pong, SENNIT_EVENT_AUTO);
	start(w->s);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_for_cancel, NULL), 0);
	EXPECT(!sennit_event_wait(&pong));
	assert_true(sennit_group_cancel(&g));
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	f = trace_of(w->s);
	assert_true(waits_for(&f, SENNIT_WAITS_FOR_EVENT, &ping,
			      SENNIT_TRACE_WAKE_CANCEL) <= 1);
	trace_file_free(&f);
}

static void *call(void *unused)
{
	return NULL;
}

static void block(void *unused)
{
	EXPECT(sennit_blocking_call(call, NULL) == NULL);
	sennit_wait_group_done(&left);
}

TEST_WITH_WORKERS(a_blocking_call_lies_within_its_wait)
{
	struct trace_file  f;
	const struct seen *begin, *end, *wake;

	start(w->s);
	sennit_wait_group_init(&left, 1);
	assert_int_equal(sennit_schedule(block, NULL), 0);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	begin = trace_file_next(&f, NULL, SENNIT_TRACED_CALL_BEGIN, ANY);
	assert_non_null(begin);
	assert_true(begin->e.a == (uintptr_t)call);
	assert_int_equal(begin->kind, SENNIT_TRACE_RING_OTHERS);
	end = trace_file_next(&f, begin, SENNIT_TRACED_CALL_END, begin->e.b);
	wake = trace_file_next(&f, begin, SENNIT_TRACED_WAKE, begin->e.b);
	assert_true(begin < end && end < wake);
	assert_int_equal(waits_for(&f, SENNIT_WAITS_FOR_CALL,
				   (const void *)(uintptr_t)call,
				   SENNIT_TRACE_WAKE_SIGNAL),
			 1);
	trace_file_free(&f);
}

/* --- the program's events ------------------------------------------------ */

static const char span_name[] = "request", value_name[] = "queue length";

static void mark(void *unused)
{
	sennit_task_set_name("a name that is longer than 16");
	sennit_trace_begin(span_name);
	sennit_trace_value(value_name, -7);
	sennit_trace_end();
	sennit_wait_group_done(&left);
}

TEST_WITH_WORKERS(spans_counters_and_names_are_recorded)
{
	struct trace_file  f;
	const struct seen *s;
	char               text[64];

	assert_int_equal(sennit_function_set_name(mark, "marker"), 0);
	start(w->s);
	sennit_wait_group_init(&left, 1);
	assert_int_equal(sennit_schedule(mark, NULL), 0);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	s = trace_file_next(&f, NULL, SENNIT_TRACED_FIBER_NAME, ANY);
	assert_non_null(s);
	assert_memory_equal(&s->e.a, "a name that is l", 16);
	assert_memory_equal(&s[1].e.a, "onger than 16\0\0", 16);
	assert_int_equal(s[1].e.detail, 16);
	assert_int_equal(s[2].e.kind, SENNIT_TRACED_SPAN_BEGIN);
	assert_true(trace_file_string(&f, SENNIT_TRACE_STRING_NAME, s[2].e.a,
				      text));
	assert_string_equal(text, span_name);
	assert_int_equal(s[3].e.kind, SENNIT_TRACED_VALUE);
	assert_int_equal((int64_t)s[3].e.b, -7);
	assert_true(trace_file_string(&f, SENNIT_TRACE_STRING_NAME, s[3].e.a,
				      text));
	assert_string_equal(text, value_name);
	assert_int_equal(s[4].e.kind, SENNIT_TRACED_SPAN_END);
	assert_true(trace_file_string(&f, SENNIT_TRACE_STRING_FUNCTION,
				      (uintptr_t)mark, text));
	assert_string_equal(text, "marker");
	assert_int_equal(sennit_function_set_name(mark, NULL), 0);
	trace_file_free(&f);
}

/* --- a late start -------------------------------------------------------- */

static sennit_event inside_waits, outside_waits;

static int wait_inside(void *unused)
{
	sennit_event_set(&inside_waits);
	EXPECT(!sennit_event_wait(&ping));
	sennit_yield();
	return 0;
}

static void open_group(void *unused)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, wait_inside, NULL));
	EXPECT(!sennit_group_wait(&g));
	sennit_event_set(&outside_waits);
	EXPECT(!sennit_event_wait(&pong));
	sennit_yield(); /* pong may have been set before the wait */
	sennit_wait_group_done(&left);
}

/* The STATE, and the end behind it, of a task that began before. */
static void expect_state(const struct trace_file *f, uintptr_t run)
{
	const struct seen *s = f->events, *end;

	assert_int_equal(trace_file_count(f, SENNIT_TRACED_TASK_BEGIN, run), 0);
	while (s->e.kind != SENNIT_TRACED_STATE || s->e.a != run)
		assert_true(++s < f->events + f->count);
	for (end = s; end->e.kind != SENNIT_TRACED_TASK_END || end->e.a != run;)
		assert_true(++end < f->events + f->count);
	assert_int_equal(end->ring, s->ring);
	assert_int_equal(end->e.fiber, s->e.fiber);
}

static void look_for_ping(void *found, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED && e->object == &ping)
		*(bool *)found = true;
}

static bool is_waiting_for_ping(sennit_scheduler *s)
{
	bool found = false;

	sennit_report_visit(s, look_for_ping, &found);
	return found;
}

/* A member, on its opener's stack or on one of its own. */
TEST_WITH_WORKERS(a_task_that_began_before_is_told_and_ends)
{
	struct trace_file f;

	sennit_event_init(&ping, SENNIT_EVENT_MANUAL);
	sennit_event_init(&pong, SENNIT_EVENT_MANUAL);
	sennit_event_init(&inside_waits, SENNIT_EVENT_MANUAL);
	sennit_event_init(&outside_waits, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&left, 1);
	assert_int_equal(sennit_schedule(open_group, NULL), 0);
	EXPECT(!sennit_event_wait(&inside_waits));
	assert_soon(is_waiting_for_ping(w->s));
	start(w->s);
	sennit_event_set(&ping);
	EXPECT(!sennit_event_wait(&outside_waits));
	sennit_event_set(&pong);
	sennit_wait_group_wait(&left);
	assert_soon((f = trace_of(w->s),
		     trace_file_count(&f, SENNIT_TRACED_TASK_END,
				      (uintptr_t)open_group) == 1 ||
			     (trace_file_free(&f), false)));
	expect_state(&f, (uintptr_t)open_group);
	assert_int_equal(trace_file_count(&f, SENNIT_TRACED_STATE,
					  (uintptr_t)wait_inside),
			 1);
	trace_file_free(&f);
}

static void wait_for_ping(void *unused)
{
	sennit_task_set_name("one that waits");
	sennit_event_set(&inside_waits);
	EXPECT(!sennit_event_wait(&ping));
	sennit_wait_group_done(&left);
}

/* What waits when the file is written is in its list, with the flow of its
 * wait, which the trace may lack. */
TEST_WITH_WORKERS(the_file_lists_who_waits)
{
	struct trace_file                f;
	const struct sennit_trace_fiber *x;

	sennit_event_init(&ping, SENNIT_EVENT_MANUAL);
	sennit_event_init(&inside_waits, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&left, 1);
	assert_int_equal(sennit_schedule(wait_for_ping, NULL), 0);
	EXPECT(!sennit_event_wait(&inside_waits));
	start(w->s);
	/* It may not have begun its wait yet. */
	assert_soon((f = trace_of(w->s), x = trace_file_fiber(&f, &ping),
		     x || (trace_file_free(&f), false)));
	assert_true(x->task == (uintptr_t)wait_for_ping);
	assert_int_equal(x->state, SENNIT_REPORT_BLOCKED);
	assert_int_equal(x->waits_for, SENNIT_WAITS_FOR_EVENT);
	assert_string_equal(x->name, "one that waits");
	assert_true(x->since && x->since <= sennit_now());
	trace_file_free(&f);
	sennit_event_set(&ping);
	sennit_wait_group_wait(&left);
}

/* --- mutexes ------------------------------------------------------------- */

enum { LOCKERS = 12 };

static sennit_mutex contended;

static void lock_once(void *unused)
{
	sennit_mutex_lock(&contended);
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_mutex_unlock(&contended);
	sennit_wait_group_done(&left);
}

static void count_lockers(void *count, const sennit_report_entry *e)
{
	*(int *)count += e->state == SENNIT_REPORT_BLOCKED &&
			 e->object == &contended;
}

static bool all_wait_for_lock(sennit_scheduler *s)
{
	int count = 0;

	sennit_report_visit(s, count_lockers, &count);
	return count == LOCKERS;
}

/* Whether the wait is the first part of its lock call. */
static bool is_first_part(const struct seen *s)
{
	return s->e.kind == SENNIT_TRACED_WAIT &&
	       s->e.a == (uintptr_t)&contended &&
	       s->e.detail == SENNIT_WAITS_FOR_MUTEX;
}

/* The time at which the wait that *resume ends has begun, which is that of a
 * first part of the same fiber. */
static bool has_first_part(const struct trace_file *f,
			   const struct seen       *resume)
{
	for (const struct seen *s = f->events; s < resume; s++)
		if (is_first_part(s) && s->ring == resume->ring &&
		    s->e.fiber == resume->e.fiber && s->e.time == resume->e.a)
			return true;
	return false;
}

/* However often its waiters check the lock, or wake and find it locked. */
TEST_WITH_WORKERS(a_lock_call_is_one_wait)
{
	struct trace_file f;
	int               waits = 0;

	sennit_mutex_init(&contended);
	start(w->s);
	sennit_wait_group_init(&left, LOCKERS);
	sennit_mutex_lock(&contended);
	for (int i = 0; i < LOCKERS; i++)
		assert_int_equal(sennit_schedule(lock_once, NULL), 0);
	assert_soon(all_wait_for_lock(w->s));
	sennit_mutex_unlock(&contended);
	sennit_wait_group_wait(&left);
	f = trace_of(w->s);
	for (size_t i = 0; i < f.count; i++) {
		waits += is_first_part(&f.events[i]);
		if (f.events[i].e.kind == SENNIT_TRACED_RESUME &&
		    f.events[i].e.detail == SENNIT_WAITS_FOR_MUTEX)
			assert_true(has_first_part(&f, &f.events[i]));
	}
	assert_int_equal(waits, LOCKERS);
	trace_file_free(&f);
}
