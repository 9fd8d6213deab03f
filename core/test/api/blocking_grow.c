/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_grow.c - blocking calls that wait for each other: threads are added
 * while none of them ends, up to the limit, where calls that cannot begin wait,
 * or fail. core/test/unit/blocking_threads.c has when that is. */
#include "testing/words.h"
#include "testing/with_workers.h"
#include "sennit/metrics.h"

#include <errno.h>

static sennit_scheduler *open_with(const struct world *w, uint32_t most,
				   uint32_t idle_ms, uint32_t fail_ms)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .max_blocking_threads = most,
					 .blocking_idle_ms = idle_ms,
					 .blocking_fail_ms = fail_ms));

	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void close_bound(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

/* --- calls that meet ---------------------------------------------------- */

enum { ALL = 300 };

struct meeting {
	sennit_wait_group here, left;
};

static void *meet(void *argument)
{
	struct meeting *m = argument;

	sennit_wait_group_done(&m->here);
	sennit_wait_group_wait(&m->here);
	return m;
}

static void call_meet(void *argument)
{
	struct meeting *m = argument;

	EXPECT(sennit_blocking_call(meet, m) == m);
	sennit_wait_group_done(&m->left);
}

static void meet_all(struct meeting *m)
{
	sennit_wait_group_init(&m->here, ALL);
	sennit_wait_group_init(&m->left, ALL);
	for (unsigned i = 0; i < ALL; i++)
		must_schedule(call_meet, m);
	sennit_wait_group_wait(&m->left);
}

TEST_WITH_COUNTS(many_calls_may_wait_for_each_other)
{
	sennit_scheduler     *s = open_with(w, 0, 0, 0);
	static struct meeting m;

	meet_all(&m);
	assert_int_equal(stats_of(s).blocking_threads, ALL);
	assert_int_equal(stats_of(s).blocking_waiting, 0);
	meet_all(&m); /* with the same threads */
	assert_int_equal(stats_of(s).blocking_threads, ALL);
	close_bound(s);
}

TEST_ALONE(many_threads_end_when_they_are_idle)
{
	sennit_scheduler     *s = open_with(w, 0, 1, 0);
	static struct meeting m;

	meet_all(&m);
	assert_soon(stats_of(s).blocking_threads == 0);
	meet_all(&m);
	close_bound(s);
}

/* --- calls in calls ----------------------------------------------------- */

struct depth {
	sennit_scheduler *s;
	unsigned          left;
};

static void *call_deeper(void *argument)
{
	struct depth *d = argument;

	if (!d->left--)
		return d;
	EXPECT(sennit_thread_bind(d->s) == 0);
	EXPECT(sennit_blocking_call(call_deeper, d) == d);
	sennit_thread_unbind();
	return d;
}

TEST_WITHOUT(many_calls_may_be_nested_257_deep)
{
	struct depth d = { w->s, 257 };

	EXPECT(sennit_blocking_call(call_deeper, &d) == &d);
	assert_int_equal(stats_of(w->s).blocking_threads, 258);
}

TEST_WITH_ONE(many_calls_may_be_nested_a_thousand_deep)
{
	struct depth d = { w->s, 1000 };

	EXPECT(sennit_blocking_call(call_deeper, &d) == &d);
	assert_int_equal(stats_of(w->s).blocking_threads, 1001);
}

static void *wait_for_task(void *argument);

struct steps {
	struct depth      d;
	sennit_wait_group done;
};

static void call_from_task(void *argument)
{
	struct steps *t = argument;
	struct steps  next = { .d = t->d };

	EXPECT(sennit_blocking_call(wait_for_task, &next) == &next);
	sennit_wait_group_done(&t->done);
}

/* The call waits for a task that makes a call. */
static void *wait_for_task(void *argument)
{
	struct steps     *t = argument;
	const sennit_task task = { .run = call_from_task, .argument = t };

	if (!t->d.left--)
		return t;
	sennit_wait_group_init(&t->done, 1);
	EXPECT(!sennit_schedule_task_on(t->d.s, &task));
	sennit_wait_group_wait(&t->done);
	return t;
}

TEST_WITH_ONE(many_calls_may_wait_for_tasks_that_call)
{
	struct steps t = { .d = { w->s, 257 } };

	EXPECT(sennit_blocking_call(wait_for_task, &t) == &t);
	assert_int_equal(stats_of(w->s).blocking_threads, 258);
}

/* --- at the limit ------------------------------------------------------- */

enum { LIMIT = 2, WAITING = 5 };

struct crowd {
	sennit_event      go;
	atomic_uint       begun, failed, ended;
	sennit_wait_group left;
};

static void *hold(void *argument)
{
	struct crowd *c = argument;

	atomic_fetch_add(&c->begun, 1);
	EXPECT(!sennit_event_wait(&c->go));
	return c;
}

static void call_hold(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_blocking_call(hold, c) == c);
	atomic_fetch_add(&c->ended, 1);
	sennit_wait_group_done(&c->left);
}

static void *must_not_run(void *argument)
{
	const bool called_though_it_failed = true;

	EXPECT(!called_though_it_failed);
	return argument;
}

static void call_in_vain(void *argument)
{
	struct crowd *c = argument;
	void         *untouched = &untouched;
	void         *result = untouched;

	errno = EXDEV;
	EXPECT(sennit_blocking_call_until(must_not_run, NULL, &result,
					  SENNIT_NEVER) == -EAGAIN);
	EXPECT(errno == EXDEV);
	EXPECT(result == untouched);
	atomic_fetch_add(&c->failed, 1);
	sennit_wait_group_done(&c->left);
}

/* All threads are taken. */
static void fill(struct crowd *c, unsigned waiting)
{
	memset(c, 0, sizeof(*c));
	sennit_event_init(&c->go, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&c->left, LIMIT + waiting);
	for (unsigned i = 0; i < LIMIT; i++)
		must_schedule(call_hold, c);
	assert_soon(atomic_load(&c->begun) == LIMIT);
}

TEST_WITH_COUNTS(calls_that_cannot_begin_fail_in_time)
{
	const uint32_t      fail_ms = 20;
	sennit_scheduler   *s = open_with(w, LIMIT, 0, fail_ms);
	static struct crowd c;
	sennit_time         begun;
	void               *result = NULL;

	fill(&c, WAITING);
	begun = sennit_now();
	for (unsigned i = 0; i < WAITING; i++)
		must_schedule(call_in_vain, &c);
	assert_soon(atomic_load(&c.failed) == WAITING);
	assert_true(sennit_now() - begun >= fail_ms * SENNIT_MILLISECOND);
	assert_int_equal(stats_of(s).blocking_waiting, 0);
	assert_int_equal(stats_of(s).blocking_threads, LIMIT);
	sennit_event_set(&c.go);
	sennit_wait_group_wait(&c.left);
	/* It works on. */
	assert_int_equal(sennit_blocking_call_until(hold, &c, &result, 0), 0);
	assert_ptr_equal(result, &c);
	close_bound(s);
}

TEST_WITH_COUNTS(a_deadline_may_come_before_the_failure)
{
	sennit_scheduler   *s = open_with(w, LIMIT, 0, UINT32_MAX);
	static struct crowd c;

	fill(&c, 0);
	assert_int_equal(
		sennit_blocking_call_until(must_not_run, NULL, NULL,
					   sennit_after(SENNIT_MILLISECOND)),
		-ETIMEDOUT);
	assert_int_equal(
		sennit_blocking_call_until(must_not_run, NULL, NULL, 0),
		-ETIMEDOUT);
	assert_int_equal(stats_of(s).blocking_waiting, 0);
	sennit_event_set(&c.go);
	sennit_wait_group_wait(&c.left);
	close_bound(s);
}

struct metrics {
	uint64_t waiting, stuck;
};

static void note_metric(void *context, const sennit_metric *metric)
{
	struct metrics *m = context;

	if (!strcmp(metric->name, "sennit_blocking_calls_waiting"))
		m->waiting = metric->value;
	if (!strcmp(metric->name, "sennit_blocking_stuck_seconds"))
		m->stuck = metric->value;
}

/* Unless the program has said so, no call fails: they wait, and can be seen. */
TEST_WITH_COUNTS(calls_wait_for_ever_and_are_named)
{
	sennit_scheduler   *s = open_with(w, LIMIT, 0, 0);
	static struct crowd c;
	struct metrics      m = { 0 };
	char                text[16384];

	fill(&c, WAITING);
	assert_null(strstr(printed_report(s, text, sizeof(text)),
			   "calls that wait"));
	for (unsigned i = 0; i < WAITING; i++)
		must_schedule(call_hold, &c);
	assert_soon(stats_of(s).blocking_waiting == WAITING);
	assert_soon(stats_of(s).blocking_stuck_ms >= 50);
	assert_non_null(
		strstr(printed_report(s, text, sizeof(text)),
		       "blocking calls that wait: 5; each of the 2 "
		       "threads is in a call, and none has ended for "));
	assert_non_null(strstr(text, " ms (max_blocking_threads: 2)\n"));
	sennit_metrics_visit(s, note_metric, &m);
	assert_int_equal(m.waiting, WAITING);
	assert_true(m.stuck >= 50 * SENNIT_MILLISECOND);
	assert_int_equal(atomic_load(&c.begun), LIMIT);
	sennit_event_set(&c.go);
	sennit_wait_group_wait(&c.left);
	assert_int_equal(atomic_load(&c.ended), LIMIT + WAITING);
	assert_int_equal(stats_of(s).blocking_stuck_ms, 0);
	close_bound(s);
}
