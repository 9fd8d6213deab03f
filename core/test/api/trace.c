/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - what a scheduler that records from its creation on has recorded,
 * and the spans of a recording. */
#include "find_metric.h"
#include "sennit/trace.h"

#include <errno.h>

enum { KEPT = 64 };

/* What a visit found. */
struct view {
	unsigned    spans;
	unsigned    of_worker[16];
	unsigned    in_state[4];
	unsigned    wrong;
	uint32_t    worker; /* of the previous span */
	sennit_time end;    /* of the previous span */
	sennit_time last_end[16];
};

static void look(void *context, const sennit_trace_span *span)
{
	struct view *v = context;
	const bool   same = v->spans && span->worker == v->worker;

	if (span->worker >= 16 || span->state > SENNIT_TRACE_STATE_PARK) {
		v->wrong++;
		return;
	}
	v->wrong += span->begin > span->end;
	v->wrong += same && span->begin < v->end;
	v->wrong += !same && v->of_worker[span->worker]; /* its spans must be
							  * adjacent */
	v->spans++;
	v->of_worker[span->worker]++;
	v->in_state[span->state]++;
	v->worker = span->worker;
	v->end = span->end;
	v->last_end[span->worker] = span->end;
}

static struct view view_of(sennit_scheduler *s)
{
	struct view v;
	int         err;

	memset(&v, 0, sizeof(v));
	err = sennit_trace_visit(s, look, &v);
	EXPECT(err == 0);
	return v;
}

static sennit_scheduler *start_traced(const struct world *w)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .trace_events = KEPT));

	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void end_traced(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

TEST_WITH_WORKERS(without_tracing_it_is_not_supported)
{
	struct view v = { .spans = 0 };

	assert_int_equal(sennit_trace_visit(w->s, look, &v), -ENOTSUP);
	assert_int_equal(v.spans, 0);
}

/* A worker appears once its thread has begun, for which create does not
 * wait. */
static bool all_are_seen(sennit_scheduler *s, unsigned workers)
{
	struct view v = view_of(s);
	unsigned    seen = 0;

	for (unsigned i = 0; i < workers; i++)
		seen += v.of_worker[i] > 0;
	return seen == workers;
}

TEST_WITH_COUNTS(a_visit_sees_each_worker_in_order)
{
	sennit_scheduler *s = start_traced(w);
	atomic_uint       ran = 0;
	struct view       v;
	sennit_time       before;

	for (unsigned i = 0; i < 100; i++)
		in_a_task(count_one, &ran);
	assert_soon(all_are_seen(s, w->threads));
	before = sennit_now();
	v = view_of(s);
	assert_int_equal(v.wrong, 0);
	for (unsigned i = 0; i < 16; i++) {
		assert_true(v.of_worker[i] <= KEPT + 1);
		if (i >= w->threads)
			assert_int_equal(v.of_worker[i], 0);
		else
			assert_in_range(v.last_end[i], before, sennit_now());
	}
	end_traced(s);
}

TEST_WITH_COUNTS(working_and_sleeping_are_seen)
{
	sennit_scheduler *s = start_traced(w);
	atomic_uint       ran = 0;

	in_a_task(count_one, &ran);
	assert_soon(view_of(s).in_state[SENNIT_TRACE_STATE_PARK] >= w->threads);
	assert_true(!w->threads || view_of(s).in_state[SENNIT_TRACE_STATE_RUN]);
	end_traced(s);
}

struct load {
	atomic_bool over;
	atomic_uint began;
	atomic_uint ended;
};

static void go_idle_and_on(void *argument)
{
	struct load *l = argument;

	while (!atomic_load(&l->over))
		sennit_sleep(20 * SENNIT_MICROSECOND);
	atomic_fetch_add(&l->ended, 1);
}

TEST_WITH_COUNTS(a_visit_while_workers_write_stays_in_order)
{
	sennit_scheduler *s = start_traced(w);
	struct load       l = { .over = false };

	for (unsigned i = 0; i < 2 * w->threads; i++)
		must_schedule(go_idle_and_on, &l);
	for (unsigned i = 0; i < 300; i++) {
		EXPECT(view_of(s).wrong == 0);
		sennit_yield();
	}
	atomic_store(&l.over, true);
	assert_soon(atomic_load(&l.ended) == 2 * w->threads);
	end_traced(s);
}

static void set(void *event)
{
	sennit_event_set(event);
}

/* No thread has begun when the recording has. */
TEST_WITH_COUNTS(the_first_task_is_recorded)
{
	sennit_scheduler *s = start_traced(w);
	sennit_event      done;
	struct trace_file f;

	sennit_event_init(&done, SENNIT_EVENT_AUTO);
	must_schedule(set, &done);
	EXPECT(!sennit_event_wait(&done));
	f = trace_of(s);
	for (uint32_t kind = SENNIT_TRACED_TASK_BEGIN;
	     kind <= SENNIT_TRACED_SPAWN; kind += 2)
		assert_int_equal(trace_file_count(&f, kind, (uintptr_t)set), 1);
	trace_file_free(&f);
	end_traced(s);
}

static bool has_stopped(sennit_scheduler *s)
{
	atomic_uint ran = 0;
	sennit_time before;

	in_a_task(count_one, &ran); /* the worker stops when it looks */
	before = sennit_now();
	return view_of(s).last_end[0] < before;
}

TEST_WITH_WORKERS(what_was_started_later_has_spans_until_it_is_stopped)
{
	atomic_uint ran = 0;
	struct view v;

	start(w->s);
	in_a_task(count_one, &ran);
	v = view_of(w->s);
	assert_int_equal(v.wrong, 0);
	assert_true(!w->threads || v.spans);
	sennit_trace_stop(w->s);
	if (w->threads <= 1)
		assert_soon(has_stopped(w->s));
	assert_int_equal(view_of(w->s).wrong, 0);
}

/* --- shared CPUs --------------------------------------------------------- */

/* Its events overwrite those from before it began. */
static void record_on_and_on(void *argument)
{
	struct load *l = argument;

	atomic_fetch_add(&l->began, 1);
	while (!atomic_load(&l->over)) {
		sennit_trace_value("on", 1);
		sennit_yield();
	}
}

TEST_ALONE(a_worker_that_waits_for_a_cpu_sleeps)
{
	struct load       l = { .over = false };
	const sennit_task t = { .run = record_on_and_on, .argument = &l };
	sennit_resources *r;
	sennit_scheduler *s[2];

	assert_int_equal(sennit_resources_create(&r, 1, NULL), 0);
	for (int i = 0; i < 2; i++) {
		s[i] = start_with(SENNIT_CONFIG(.workers = 1, .resources = r,
						.trace_events = KEPT));
		assert_int_equal(sennit_schedule_task_on(s[i], &t), 0);
	}
	sennit_resources_release(r);
	assert_soon(atomic_load(&l.began) == 2);
	for (int i = 0; i < 20; i++)
		assert_soon(
			view_of(s[i % 2]).in_state[SENNIT_TRACE_STATE_PARK]);
	atomic_store(&l.over, true);
	end_scheduler(s[0]);
	end_scheduler(s[1]);
}

static void visit_here(void *argument)
{
	EXPECT(view_of(argument).wrong == 0);
}

TEST_WITH_COUNTS(anyone_may_visit)
{
	sennit_scheduler *s = start_traced(w);

	in_each_place(visit_here, s);
	end_traced(s);
}
