/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_vs_traces.c - a thread switches histograms and traces on and off, in
 * any order, while tasks run, wait, sleep and join. No histogram gets more than
 * there was: not more durations than tasks and waits, and no more time than has
 * passed. Then, with both on, each task and wait is in both, once.
 */
#include "../api/find_metric.h"
#include "testing/random.h"

#include "sennit/workers.h"
#include "sennit/metrics.h"
#include "sennit/trace.h"

enum { WORKS = 4, TASKS = 40, LAST = 200 };

static sennit_mutex      mutex;
static atomic_bool       over;
static sennit_event      opening;
static sennit_wait_group left;
static atomic_ulong      begun; /* tasks and members so far */
static atomic_uint       works;

static const struct {
	const char *name, *kind;
} histograms[] = {
	{ "sennit_task_run_seconds", NULL },
	{ "sennit_scheduling_latency_seconds", NULL },
	{ "sennit_wait_seconds", "mutex" },
	{ "sennit_wait_seconds", "sleep" },
	{ "sennit_wait_seconds", "group" },
};

static int member(void *number)
{
	atomic_fetch_add(&begun, 1);
	sennit_mutex_lock(&mutex);
	sennit_yield();
	sennit_mutex_unlock(&mutex);
	if ((uintptr_t)number % 4 == 0)
		sennit_sleep(20 * SENNIT_MICROSECOND);
	return 0;
}

static void work(void *flags)
{
	sennit_group g;

	atomic_fetch_add(&begun, 1);
	atomic_fetch_add(&works, 1);
	while (!atomic_load(&over)) {
		sennit_group_init(&g, SENNIT_NEVER, (uint32_t)(uintptr_t)flags);
		for (uintptr_t i = 0; i < TASKS; i++)
			EXPECT(!sennit_group_spawn(&g, member, (void *)i));
		EXPECT(!sennit_group_wait(&g));
	}
}

static void *bind_and_work(void *s)
{
	while (!atomic_load(&over)) {
		sennit_group g;

		EXPECT(!sennit_thread_bind(s));
		sennit_group_init(&g, SENNIT_NEVER, 0);
		for (uintptr_t i = 0; i < TASKS; i++) {
			const sennit_member each = {
				.run = member,
				.argument = &i,
				.copy_size = sizeof(i),
				.flags = SENNIT_MEMBER_SAME_THREAD
			};

			EXPECT(!sennit_group_spawn_task(&g, &each));
		}
		EXPECT(!sennit_group_wait(&g));
		sennit_thread_unbind();
	}
	return NULL;
}

static void switch_something(sennit_scheduler *s, uint64_t *random)
{
	static const uint32_t every[] = { 0, 1, 3, SENNIT_METRICS_SAMPLED };
	/* The size of the rings is that of the first start. */
	static const sennit_trace_options small = { .size = sizeof(small),
						    .events = 4096 };

	switch (random_below(random, 3)) {
	case 0:
		sennit_metrics_record(s, every[random_below(random, 4)]);
		break;
	case 1:
		EXPECT(!sennit_trace_start(s, &small));
		break;
	default:
		sennit_trace_stop(s);
		break;
	}
}

/* As many threads have run since `begin` at most: the workers, the bound
 * thread, and this one. */
static void check_sums(struct world *w, sennit_time begin, uint64_t threads)
{
	uint64_t passed = sennit_now() - begin;
	uint64_t tasks = value_of(w->s, "sennit_tasks");
	uint64_t waits = value_of(w->s, "sennit_waits");

	passed += passed / 1000 + SENNIT_MILLISECOND;
	for (size_t i = 0; i < sizeof(histograms) / sizeof(*histograms); i++) {
		sennit_histogram h = find(w->s, histograms[i].name,
					  histograms[i].kind)
					     .histogram;

		assert_true(h.count <= (i ? waits : tasks));
		assert_true(h.sum <= (i ? h.count : threads) * passed);
	}
}

static void wait_and_end(void *unused)
{
	EXPECT(!sennit_event_wait(&opening));
	sennit_wait_group_done(&left);
}

static size_t count_waits(const struct trace_file *f, uint32_t detail)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += f->events[i].e.kind == SENNIT_TRACED_WAIT &&
			 f->events[i].e.detail == detail;
	return count;
}

static void note_busy(void *busy, const sennit_worker_view *view)
{
	if (view->worker != UINT32_MAX && view->state == SENNIT_WORKER_BUSY)
		*(bool *)busy = true;
}

static bool is_idle(sennit_scheduler *s)
{
	bool busy = false;

	sennit_workers_visit(s, note_busy, &busy);
	return !busy;
}

/* Idle workers follow when they find work; a busy one would only after some
 * tasks. */
static void check_exactly(struct world *w)
{
	uint64_t          timed, waited;
	struct trace_file f;

	sennit_trace_stop(w->s);
	sennit_metrics_record(w->s, 0);
	assert_soon(is_idle(w->s));
	timed = tasks_timed(w->s);
	waited = find(w->s, "sennit_wait_seconds", "event").histogram.count;
	sennit_metrics_record(w->s, 1);
	start(w->s);
	sennit_event_init(&opening, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&left, LAST);
	for (int i = 0; i < LAST; i++)
		must_schedule(wait_and_end, NULL);
	assert_soon(stats_of(w->s).fibers == LAST);
	sennit_event_set(&opening);
	sennit_wait_group_wait(&left);
	assert_soon(tasks_timed(w->s) == timed + LAST);
	assert_int_equal(
		find(w->s, "sennit_wait_seconds", "event").histogram.count,
		waited + LAST);
	assert_soon((f = trace_of(w->s),
		     trace_file_count(&f, SENNIT_TRACED_TASK_END,
				      (uintptr_t)wait_and_end) == LAST ||
			     (trace_file_free(&f), false)));
	assert_int_equal(trace_file_count(&f, SENNIT_TRACED_TASK_BEGIN,
					  (uintptr_t)wait_and_end),
			 LAST);
	assert_int_equal(count_waits(&f, SENNIT_WAITS_FOR_EVENT), LAST);
	trace_file_free(&f);
}

TEST_WITH_THREADS(both_switched_while_tasks_run)
{
	uint64_t    random = random_stream(0);
	sennit_time begin = sennit_now();
	pthread_t   thread;

	atomic_store(&over, false);
	atomic_store(&begun, 0);
	atomic_store(&works, 0);
	thread = must_start_thread(bind_and_work, w->s);
	for (uint32_t i = 0; i < WORKS; i++)
		must_schedule(
			work,
			(void *)(uintptr_t)(i % 2 ? SENNIT_GROUP_OWN_STACKS
						  : 0));
	for (uint64_t i = scaled(300); i; i--) {
		switch_something(w->s, &random);
		sennit_yield();
		sched_yield();
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	/* A task is counted when all about it is recorded. */
	assert_soon(atomic_load(&works) == WORKS &&
		    stats_of(w->s).tasks == atomic_load(&begun));
	check_sums(w, begin, w->threads + 2);
	check_exactly(w);
}
