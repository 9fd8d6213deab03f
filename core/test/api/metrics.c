/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - metrics are what has happened: known programs give known
 * numbers. testing/build/metrics.sh shows the text to Prometheus. */
#include "find_metric.h"
#include "members.h"
#include "sennit/metrics.h"

#include <errno.h>

enum { MANY = 500 };

static uint64_t resumes_timed(sennit_scheduler *s)
{
	return find(s, "sennit_scheduling_latency_seconds", NULL)
		.histogram.count;
}

static uint64_t waits_timed(sennit_scheduler *s, const char *kind)
{
	return find(s, "sennit_wait_seconds", kind).histogram.count;
}

/* --- counters ----------------------------------------------------------- */

static void nothing(void *unused)
{
}

static void run_tasks(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		must_schedule(nothing, NULL);
}

TEST_WITH_WORKERS(counters_are_those_of_the_stats)
{
	sennit_stats stats;

	run_tasks(MANY);
	assert_soon(value_of(w->s, "sennit_tasks") == MANY);
	assert_soon(stats_of(w->s).fibers == 0);
	stats = stats_of(w->s);
	assert_int_equal(value_of(w->s, "sennit_waits"), stats.blocks);
	assert_int_equal(value_of(w->s, "sennit_wakes"), stats.blocks);
	assert_int_equal(value_of(w->s, "sennit_stacks"), stats.stacks);
	assert_int_equal(value_of(w->s, "sennit_workers"), w->threads);
	assert_int_equal(find(w->s, "sennit_tasks", NULL).found,
			 w->threads + 1);
}

static void *nothing_blocks(void *unused)
{
	return unused;
}

static void call_nothing(void *done)
{
	sennit_blocking_call(nothing_blocks, NULL);
	sennit_wait_group_done(done);
}

TEST_WITH_WORKERS(blocking_calls_are_counted)
{
	sennit_wait_group done;

	sennit_wait_group_init(&done, 5);
	for (int i = 0; i < 5; i++)
		must_schedule(call_nothing, &done);
	sennit_wait_group_wait(&done);
	assert_int_equal(value_of(w->s, "sennit_blocking_calls"), 5);
	assert_true(value_of(w->s, "sennit_blocking_threads") >= 1);
}

static int wait_for_ever(void *unused)
{
	EXPECT(sennit_sleep_until(sennit_after(3600 * SENNIT_SECOND)) ==
	       -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(cancelled_waits_are_counted)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (int i = 0; i < 7; i++)
		assert_false(sennit_group_spawn(&g, wait_for_ever, NULL));
	while (stats_of(w->s).fibers < 7)
		sennit_yield();
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(value_of(w->s, "sennit_waits_cancelled"), 7);
}

static void use_a_scheduler(void *s)
{
	sennit_wait_group done;

	EXPECT(!sennit_thread_bind(s));
	sennit_metrics_record(s, 1);
	sennit_wait_group_init(&done, 1);
	must_schedule_here(call_nothing, &done);
	sennit_wait_group_wait(&done);
	sennit_thread_unbind();
}

TEST_WITH_WORKERS(what_threads_did_stays_when_they_unbind)
{
	uint64_t tasks;

	in_a_thread(use_a_scheduler, w->s);
	in_a_thread(use_a_scheduler, w->s);
	tasks = find(w->s, "sennit_tasks", "bound").value;
	assert_int_equal(tasks, 2);
	assert_int_equal(tasks_timed(w->s), 2);
	assert_int_equal(waits_timed(w->s, "blocking_call"), 2);
	assert_int_equal(find(w->s, "sennit_blocking_calls", "bound").value, 2);
}

/* --- histograms --------------------------------------------------------- */

TEST_WITH_WORKERS(histograms_are_off_at_first)
{
	run_tasks(MANY);
	assert_soon(value_of(w->s, "sennit_tasks") == MANY);
	assert_int_equal(tasks_timed(w->s), 0);
	assert_int_equal(resumes_timed(w->s), 0);
	assert_int_equal(value_of(w->s, "sennit_workers_unmeasured"), 0);
}

TEST_WITH_WORKERS(each_task_is_timed)
{
	sennit_metrics_record(w->s, 1);
	run_tasks(MANY);
	assert_soon(tasks_timed(w->s) == MANY);
	sennit_metrics_record(w->s, 0);
}

TEST_WITH_WORKERS(switched_off_they_keep_what_they_have)
{
	each_task_is_timed(w);
	/* Each worker must have seen it. */
	for (uint32_t i = 0; i < 100 * (w->threads + 1); i++)
		run_tasks(1);
	assert_soon(value_of(w->s, "sennit_tasks") ==
		    MANY + 100 * (w->threads + 1));
	assert_in_range(tasks_timed(w->s), MANY, MANY + 61 * (w->threads + 1));
}

TEST_WITH_ONE(one_of_ten_tasks_is_timed)
{
	sennit_metrics_record(w->s, 10);
	run_tasks(MANY);
	assert_soon(value_of(w->s, "sennit_tasks") == MANY);
	assert_soon(tasks_timed(w->s) == MANY / 10);
}

struct place {
	sennit_event      open;
	sennit_wait_group through;
	sennit_mutex      mutex;
};

static void pass(void *argument)
{
	struct place *p = argument;

	EXPECT(!sennit_event_wait(&p->open));
	sennit_wait_group_done(&p->through);
}

TEST_WITH_WORKERS(each_wait_is_timed_by_its_kind)
{
	struct place p = { .open = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };
	uint64_t     timed;

	sennit_metrics_record(w->s, 1);
	sennit_wait_group_init(&p.through, 100);
	for (int i = 0; i < 100; i++)
		must_schedule(pass, &p);
	assert_soon(stats_of(w->s).fibers == 100);
	sennit_event_set(&p.open);
	sennit_wait_group_wait(&p.through);
	assert_soon(tasks_timed(w->s) == 100);
	timed = waits_timed(w->s, "event");
	assert_int_equal(timed, 100);
	/* This thread has waited, too, by assert_soon() and for the group. */
	assert_true(resumes_timed(w->s) >= 100);
	assert_int_equal(waits_timed(w->s, "mutex"), 0);
}

static void lock_and_unlock(void *argument)
{
	struct place *p = argument;

	sennit_mutex_lock(&p->mutex);
	sennit_mutex_unlock(&p->mutex);
	sennit_wait_group_done(&p->through);
}

TEST_WITH_WORKERS(a_lock_is_told_from_an_event)
{
	struct place p = { .mutex = SENNIT_MUTEX_INIT };

	sennit_metrics_record(w->s, 1);
	sennit_wait_group_init(&p.through, 20);
	sennit_mutex_lock(&p.mutex);
	for (int i = 0; i < 20; i++)
		must_schedule(lock_and_unlock, &p);
	assert_soon(stats_of(w->s).fibers == 20);
	sennit_mutex_unlock(&p.mutex);
	sennit_wait_group_wait(&p.through);
	assert_int_equal(waits_timed(w->s, "mutex"), 20);
	assert_int_equal(waits_timed(w->s, "event"), 0);
}

/* --- mutexes ------------------------------------------------------------- */

enum { LOCKERS = 12 };

struct contest {
	sennit_mutex      mutex;
	sennit_semaphore  turns;
	sennit_wait_group through;
	uint64_t          patience; /* of each lock call, in nanoseconds; 0: no
				     * deadline */
	atomic_ullong     spent;    /* nanoseconds in them */
	atomic_int        left;
};

static int try_to_lock(void *argument)
{
	struct contest *c = argument;
	sennit_time     begin = sennit_now();
	sennit_time until = c->patience ? begin + c->patience : SENNIT_NEVER;
	int         err = sennit_mutex_lock_until(&c->mutex, until);

	atomic_fetch_add(&c->spent, sennit_now() - begin);
	if (!err) {
		sennit_sleep(SENNIT_MILLISECOND);
		sennit_mutex_unlock(&c->mutex);
	}
	return err;
}

static void wait_and_lock(void *argument)
{
	struct contest *c = argument;

	EXPECT(!sennit_semaphore_acquire(&c->turns, 1));
	(void)try_to_lock(c);
	atomic_fetch_sub(&c->left, 1);
	sennit_wait_group_done(&c->through);
}

struct queue {
	const void *object;
	int         length;
};

static void count_waiter(void *queue, const sennit_report_entry *e)
{
	struct queue *q = queue;

	q->length += e->state == SENNIT_REPORT_BLOCKED &&
		     e->object == q->object;
}

static bool all_wait_for(sennit_scheduler *s, const void *object)
{
	struct queue q = { object, 0 };

	sennit_report_visit(s, count_waiter, &q);
	return q.length == LOCKERS;
}

/* All lockers wait for the mutex, which the caller holds, unless some have lost
 * their patience; before, they have waited for the semaphore. */
static void start_contest(struct world *w, struct contest *c)
{
	sennit_metrics_record(w->s, 1);
	sennit_mutex_lock(&c->mutex);
	sennit_wait_group_init(&c->through, LOCKERS);
	atomic_init(&c->left, LOCKERS);
	for (int i = 0; i < LOCKERS; i++)
		must_schedule(wait_and_lock, c);
	assert_soon(all_wait_for(w->s, &c->turns));
	sennit_semaphore_release(&c->turns, LOCKERS);
	if (!c->patience)
		assert_soon(all_wait_for(w->s, &c->mutex));
}

/* Of the workers with a thread: this thread waits, too. */
static uint64_t of_workers(struct world *w, const char *name)
{
	return value_of(w->s, name) - find(w->s, name, "bound").value;
}

/* Until the lockers are through. */
static void see_counters_rise(struct world *w, struct contest *c)
{
	uint64_t waits = 0, wakes = 0;

	while (atomic_load(&c->left)) {
		uint64_t more = value_of(w->s, "sennit_waits");

		assert_true(more >= waits);
		waits = more;
		more = value_of(w->s, "sennit_wakes");
		assert_true(more >= wakes);
		wakes = more;
		sennit_yield();
	}
}

/* However often its waiters check the lock, or wake and find it locked. */
TEST_WITH_WORKERS(a_lock_call_is_one_wait)
{
	struct contest c = { .patience = 0 };
	struct wanted  wait;
	uint64_t       fibers;

	start_contest(w, &c);
	assert_int_equal(waits_timed(w->s, "mutex"), 0);
	sennit_mutex_unlock(&c.mutex);
	see_counters_rise(w, &c);
	sennit_wait_group_wait(&c.through);
	wait = find(w->s, "sennit_wait_seconds", "mutex");
	assert_int_equal(wait.histogram.count, LOCKERS);
	assert_true(wait.histogram.sum <=
		    c.spent + c.spent / 1000 + LOCKERS * 1000);
	assert_int_equal(waits_timed(w->s, "semaphore"), LOCKERS);
	assert_int_equal(waits_timed(w->s, "sleep"), LOCKERS);
	fibers = fibers_of(w->s);
	assert_int_equal(value_of(w->s, "sennit_waits"),
			 value_of(w->s, "sennit_wakes") + fibers);
	if (w->threads)
		assert_int_equal(of_workers(w, "sennit_waits"), 3 * LOCKERS);
}

TEST_WITH_WORKERS(a_lock_call_that_times_out_is_one_wait)
{
	struct contest c = { .patience = SENNIT_SECOND / 4 };

	start_contest(w, &c);
	see_counters_rise(w, &c);
	sennit_wait_group_wait(&c.through);
	sennit_mutex_unlock(&c.mutex);
	assert_int_equal(waits_timed(w->s, "mutex"), LOCKERS);
	if (w->threads)
		assert_int_equal(of_workers(w, "sennit_waits"), 2 * LOCKERS);
}

TEST_WITH_WORKERS(a_lock_call_that_is_cancelled_is_one_wait)
{
	struct contest c = { .patience = 0 };
	sennit_group   g;

	sennit_metrics_record(w->s, 1);
	sennit_mutex_lock(&c.mutex);
	open_on(w, &g, SENNIT_GROUP_OWN_STACKS);
	for (int i = 0; i < LOCKERS; i++)
		must_spawn(&g, try_to_lock, &c);
	assert_soon(all_wait_for(w->s, &c.mutex));
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	sennit_mutex_unlock(&c.mutex);
	assert_int_equal(waits_timed(w->s, "mutex"), LOCKERS);
	if (w->threads)
		assert_int_equal(of_workers(w, "sennit_waits"), LOCKERS);
}

static void nap(void *done)
{
	sennit_sleep(20 * SENNIT_MILLISECOND);
	sennit_wait_group_done(done);
}

/* No part of a task is counted twice: what ran and what waited takes no longer
 * than all of it. */
TEST_WITH_WORKERS(times_add_up)
{
	sennit_time       begin = sennit_now();
	sennit_wait_group done;
	struct wanted     run, wait, latency;
	uint64_t          sum, all;

	sennit_metrics_record(w->s, 1);
	sennit_wait_group_init(&done, 1);
	must_schedule(nap, &done);
	sennit_wait_group_wait(&done);
	sennit_metrics_record(w->s, 0);
	assert_soon(tasks_timed(w->s) == 1);
	all = sennit_now() - begin;
	run = find(w->s, "sennit_task_run_seconds", NULL);
	wait = find(w->s, "sennit_wait_seconds", "sleep");
	latency = find(w->s, "sennit_scheduling_latency_seconds", NULL);
	assert_int_equal(wait.histogram.count, 1);
	assert_true(latency.histogram.count >= 1);
	sum = run.histogram.sum + wait.histogram.sum;
	assert_true(sum > 0);
	assert_true(sum <= all + all / 1000 + 1000);
}

struct spins {
	uint64_t          spent; /* ns; no more than the task ran */
	sennit_wait_group done;
};

static void spin(struct spins *s)
{
	sennit_time begin = sennit_now();

	while (sennit_now() - begin < 2 * SENNIT_MILLISECOND)
		;
	s->spent += sennit_now() - begin;
}

static void spin_sleep_and_spin(void *argument)
{
	struct spins *s = argument;

	spin(s);
	sennit_sleep(SENNIT_MILLISECOND);
	spin(s);
	sennit_wait_group_done(&s->done);
}

TEST_WITH_WORKERS(what_a_task_ran_before_a_wait_counts)
{
	struct spins  s = { .spent = 0 };
	struct wanted run;

	sennit_metrics_record(w->s, 1);
	sennit_wait_group_init(&s.done, 1);
	must_schedule(spin_sleep_and_spin, &s);
	sennit_wait_group_wait(&s.done);
	assert_soon(tasks_timed(w->s) == 1);
	run = find(w->s, "sennit_task_run_seconds", NULL);
	assert_true(run.histogram.sum >= s.spent - s.spent / 1000);
}

TEST_WITH_WORKERS(members_on_their_openers_stack_are_timed)
{
	int members = 30;

	sennit_metrics_record(w->s, 1);
	must_schedule(open_a_group, &members);
	assert_soon(value_of(w->s, "sennit_tasks") == 31);
	assert_soon(tasks_timed(w->s) == 31);
}
