/* SPDX-License-Identifier: Apache-2.0 */
/* report_changes.c - reports of fibers that run, are ready, or come and go at
 * the same time. */
#include "report_search.h"

/* --- running and ready -------------------------------------------------- */

struct runner {
	sennit_scheduler *s;
	_Atomic(uint64_t) begun;
	atomic_bool       stop;
	sennit_event      stopped; /* the observer has stopped looking at the
				    * runner */
};

static void run_until_told(void *argument)
{
	struct runner *r = argument;

	atomic_store(&r->begun, sennit_now());
	while (!atomic_load(&r->stop))
		sched_yield();
	sennit_event_set(&r->stopped);
}

TEST_WITH_THREADS(a_running_task_is_seen)
{
	struct runner       r = { .s = w->s };
	sennit_report_entry e;
	const sennit_time   before = sennit_now();

	must_schedule(run_until_told, &r);
	assert_soon(atomic_load(&r.begun));
	assert_true(is_seen(w->s, run_until_told, SENNIT_REPORT_RUNNING,
			    SENNIT_WAITS_FOR_NOTHING, &e));
	atomic_store(&r.stop, true);
	EXPECT(!sennit_event_wait(&r.stopped));
	assert_true(e.worker < w->threads);
	assert_null(e.object);
	assert_true(e.since <= atomic_load(&r.begun));
	/* The worker was idle before this task. */
	assert_true(e.since + GIVE_UP > before);
}

static void report_oneself(void *argument)
{
	struct world       *w = argument;
	sennit_report_entry e;

	/* in_a_task runs it from a function of its own. */
	EXPECT(is_seen(w->s, run_errand, SENNIT_REPORT_RUNNING,
		       SENNIT_WAITS_FOR_NOTHING, &e));
	EXPECT(e.fiber == sennit_fiber_number(sennit_fiber_current()));
	EXPECT(e.thread == (uint32_t)gettid());
	EXPECT(is_at_home(w, &e));
	EXPECT_SOON(is_blocked(w->s, NULL, SENNIT_WAITS_FOR_WAIT_GROUP, &e));
	EXPECT(e.worker == SENNIT_REPORT_BOUND);
	EXPECT(e.fiber == 0);
}

TEST_WITH_WORKERS(a_task_sees_itself_and_who_waits_for_it)
{
	in_a_task(report_oneself, w);
}

static void wake_but_keep_the_worker(void *argument)
{
	sennit_scheduler   *s = argument;
	struct things       t = { .deadline = SENNIT_NEVER };
	sennit_report_entry e;

	sennit_wait_group_init(&t.all, 1);
	must_schedule_here(wait_for_event, &t);
	EXPECT_SOON(is_blocked(s, wait_for_event, SENNIT_WAITS_FOR_EVENT, &e));
	sennit_event_set(&t.event);
	EXPECT(is_seen(s, wait_for_event, SENNIT_REPORT_READY,
		       SENNIT_WAITS_FOR_EVENT, &e));
	EXPECT(e.object == &t.event);
	sennit_wait_group_wait(&t.all);
}

TEST_WITH_WORKERS(who_is_woken_but_does_not_run_yet_is_ready)
{
	in_a_task(wake_but_keep_the_worker, w->s);
}

static void do_nothing(void *argument)
{
}

static void count_queued(void *argument)
{
	sennit_scheduler *s = argument;
	struct search     look;

	for (unsigned i = 0; i < 10; i++)
		must_schedule(do_nothing, NULL);
	look = search(s, NULL, SENNIT_REPORT_QUEUED, 0);
	EXPECT(look.count == 1);
	EXPECT(look.entry.count == 10);
	EXPECT(look.entry.worker == 0);
}

TEST_WITH_ONE(tasks_that_have_not_started_are_counted)
{
	in_a_task(count_queued, w->s);
}

TEST_WITH_WORKERS(an_idle_scheduler_has_only_its_bound_thread)
{
	struct search look;

	in_a_task(do_nothing, NULL);
	assert_soon((look = search(w->s, NULL, SENNIT_REPORT_RUNNING, 0),
		     look.entries == 1));
	assert_int_equal(look.count, 1);
	assert_int_equal(look.entry.worker, SENNIT_REPORT_BOUND);
	assert_int_equal(look.entry.fiber, 0);
	assert_int_equal(look.entry.thread, gettid());
}

/* --- bound threads ------------------------------------------------------ */

struct guest {
	sennit_scheduler *s;
	sennit_event      go;
	struct things     t;
	atomic_uint       thread;
};

static void *bind_and_wait(void *argument)
{
	struct guest *g = argument;

	EXPECT(sennit_thread_bind(g->s) == 0);
	atomic_store(&g->thread, (unsigned)gettid());
	EXPECT(!sennit_event_wait(&g->go));
	must_schedule_here(wait_for_event, &g->t);
	sennit_thread_unbind();
	return NULL;
}

TEST_WITH_WORKERS(a_bound_thread_waits_under_its_own_number)
{
	struct guest        g = { .s = w->s };
	sennit_report_entry e;
	pthread_t           thread;

	sennit_wait_group_init(&g.t.all, 1);
	thread = must_start_thread(bind_and_wait, &g);
	assert_soon(is_blocked(w->s, NULL, SENNIT_WAITS_FOR_EVENT, &e));
	assert_int_equal(e.worker, SENNIT_REPORT_BOUND);
	assert_int_equal(e.thread, atomic_load(&g.thread));
	assert_int_equal(e.fiber, 0);
	assert_ptr_equal(e.object, &g.go);
	sennit_event_set(&g.go);
	/* It is unbinding, but a task still waits there. */
	assert_soon(is_blocked(w->s, NULL, SENNIT_WAITS_FOR_WORK, &e));
	assert_int_equal(e.thread, atomic_load(&g.thread));
	assert_soon(
		is_blocked(w->s, wait_for_event, SENNIT_WAITS_FOR_EVENT, &e));
	assert_int_equal(e.thread, atomic_load(&g.thread));
	sennit_event_set(&g.t.event);
	pthread_join(thread, NULL);
}

/* --- concurrent changes ------------------------------------------------- */

static sennit_event      never_set;
static sennit_wait_group never_done;

/* Waits of one kind have odd deadlines, those of the other kind even ones. */
static void wait_odd(void *argument)
{
	for (unsigned i = 0; i < 20; i++) {
		(void)!sennit_event_wait_until(
			&never_set, sennit_after(20 * SENNIT_MICROSECOND) | 1);
		sennit_yield();
	}
	sennit_wait_group_done(argument);
}

static void wait_even(void *argument)
{
	for (unsigned i = 0; i < 20; i++)
		(void)!sennit_wait_group_wait_until(
			&never_done,
			sennit_after(20 * SENNIT_MICROSECOND) & ~UINT64_C(1));
	sennit_wait_group_done(argument);
}

/* No entry may mix two waits. */
static void check_mixture(void *context, const sennit_report_entry *e)
{
	++*(unsigned *)context;
	if (e->state != SENNIT_REPORT_BLOCKED ||
	    e->worker == SENNIT_REPORT_BOUND)
		return;
	if (e->task == wait_odd) {
		EXPECT(e->waits_for == SENNIT_WAITS_FOR_EVENT);
		EXPECT(e->object == &never_set);
		EXPECT(e->deadline & 1);
	} else {
		EXPECT(e->task == wait_even);
		EXPECT(e->waits_for == SENNIT_WAITS_FOR_WAIT_GROUP);
		EXPECT(e->object == &never_done);
		EXPECT(!(e->deadline & 1));
	}
}

static void *come_and_go(void *argument)
{
	struct runner *r = argument;

	while (!atomic_load(&r->stop)) {
		EXPECT(sennit_thread_bind(r->s) == 0);
		must_schedule_here(do_nothing, NULL);
		sennit_thread_unbind();
	}
	return NULL;
}

static void *ask_and_ask(void *argument)
{
	struct runner *r = argument;
	unsigned       entries = 0;

	while (!atomic_load(&r->stop))
		sennit_report_visit(r->s, check_mixture, &entries);
	EXPECT(entries);
	return NULL;
}

static void work_while_it_is_asked(struct runner *r)
{
	sennit_wait_group all;

	assert_int_equal(sennit_thread_bind(r->s), 0);
	sennit_wait_group_init(&all, 2 * LOAD(1000));
	for (unsigned i = 0; i < LOAD(1000); i++) {
		must_schedule(wait_odd, &all);
		must_schedule(wait_even, &all);
	}
	sennit_wait_group_wait(&all);
	sennit_thread_unbind();
}

TEST_WITH_COUNTS(reports_while_fibers_come_and_go_mix_nothing)
{
	struct runner r = { .s = start_with(SENNIT_CONFIG(.workers = w->workers,
							  .max_fibers = 64)) };
	pthread_t     asker, guest;

	sennit_event_init(&never_set, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&never_done, 1);
	asker = must_start_thread(ask_and_ask, &r);
	guest = must_start_thread(come_and_go, &r);
	work_while_it_is_asked(&r);
	atomic_store(&r.stop, true);
	pthread_join(asker, NULL);
	pthread_join(guest, NULL);
	end_scheduler(r.s);
}
