/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_times.c - which tasks and waits are in the histograms of a sample,
 * and from when until when a wait and its latency last. */
#include "find_metric.h"
#include "members.h"
#include "sennit/metrics.h"

enum { EVERY = 10 };

static struct wanted latency_of(sennit_scheduler *s)
{
	return find(s, "sennit_scheduling_latency_seconds", NULL);
}

/* A rate that was measured for half a millisecond, and the clock. Where the
 * counter is emulated, reading it takes long. */
static uint64_t about(uint64_t ns)
{
	return ns - ns / 100;
}

/* --- samples ------------------------------------------------------------ */

TEST_WITH_WORKERS(the_gauge_says_what_is_recorded)
{
	assert_int_equal(value_of(w->s, "sennit_histograms_every"), 0);
	sennit_metrics_record(w->s, SENNIT_METRICS_SAMPLED);
	assert_int_equal(value_of(w->s, "sennit_histograms_every"),
			 SENNIT_METRICS_SAMPLED);
	sennit_metrics_record(w->s, 0);
	assert_int_equal(value_of(w->s, "sennit_histograms_every"), 0);
}

/* Some openers are in the sample themselves, and some are not. */
TEST_WITH_ONE(one_of_ten_members_is_timed)
{
	const int openers = 2 * EVERY;
	int       members = 9 * EVERY - 1;

	sennit_metrics_record(w->s, EVERY);
	for (int i = 0; i < openers; i++)
		must_schedule(open_a_group, &members);
	assert_soon(value_of(w->s, "sennit_tasks") ==
		    (uint64_t)openers * 9 * EVERY);
	assert_int_equal(tasks_timed(w->s), openers * 9);
}

static void spin(void *until)
{
	while (sennit_now() < *(sennit_time *)until)
		;
}

static void spin_for_long(void *left)
{
	sennit_time until = sennit_after(2 * SENNIT_MILLISECOND);

	spin(&until);
	sennit_wait_group_done(left);
}

static void done(void *left)
{
	sennit_wait_group_done(left);
}

/* The begin of a task in the sample is not the end of the one before, which was
 * not in it. */
TEST_WITHOUT(a_task_is_not_charged_for_the_one_before)
{
	struct wanted     run;
	sennit_wait_group left;

	sennit_metrics_record(w->s, 3);
	sennit_wait_group_init(&left, 60);
	for (int i = 0; i < 60; i++)
		must_schedule(i % 3 == 1 ? spin_for_long : done, &left);
	sennit_wait_group_wait(&left);
	assert_soon(value_of(w->s, "sennit_tasks") == 60);
	run = find(w->s, "sennit_task_run_seconds", NULL);
	assert_int_equal(run.histogram.count, 20);
	assert_true(sennit_histogram_quantile(&run.histogram, 0.5) <
		    2 * SENNIT_MILLISECOND);
}

static void yield(void *times)
{
	for (int i = *(int *)times; i; i--)
		sennit_yield();
}

TEST_WITHOUT(one_of_ten_waits_is_timed)
{
	int      times = 100 * EVERY;
	uint64_t before, waits;

	sennit_metrics_record(w->s, EVERY);
	before = value_of(w->s, "sennit_waits");
	must_schedule(yield, &times);
	assert_soon(value_of(w->s, "sennit_tasks") == 1);
	waits = value_of(w->s, "sennit_waits") - before;
	assert_true(waits >= (uint64_t)times);
	/* A wait that is over at once suspends nothing. */
	assert_in_range(latency_of(w->s).histogram.count, 100, waits / EVERY);
}

/* --- how long ----------------------------------------------------------- */

static void await(void *event)
{
	EXPECT(!sennit_event_wait(event));
}

TEST_WITH_THREADS(a_wait_ended_elsewhere_is_as_long_as_it_was)
{
	sennit_event  e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	sennit_time   end;
	struct wanted wait;

	sennit_metrics_record(w->s, 1);
	must_schedule(await, &e);
	assert_soon(stats_of(w->s).fibers == 1);
	end = sennit_after(5 * SENNIT_MILLISECOND);
	spin(&end);
	sennit_event_set(&e);
	assert_soon(value_of(w->s, "sennit_tasks") == 1);
	wait = find(w->s, "sennit_wait_seconds", "event");
	assert_int_equal(wait.histogram.count, 1);
	assert_true(wait.histogram.sum >= about(5 * SENNIT_MILLISECOND));
}

struct sleeper {
	sennit_time         begin, over;
	_Atomic sennit_time deadline;
	atomic_bool         awake;
	bool                slept;
	sennit_wait_group   done;
};

/* Keeps the thread from its timers. */
static void oversleep(void *sleeper)
{
	struct sleeper *s = sleeper;

	s->slept = !s->awake && sennit_now() < s->deadline;
	s->over = s->deadline + 20 * SENNIT_MILLISECOND;
	spin(&s->over);
	sennit_wait_group_done(&s->done);
}

static void sleep_until(void *sleeper)
{
	struct sleeper *s = sleeper;

	must_schedule_here(oversleep, s);
	s->begin = sennit_now();
	s->deadline = s->begin + 2 * SENNIT_MILLISECOND;
	EXPECT(!sennit_sleep_until(s->deadline));
	s->awake = true;
	sennit_wait_group_done(&s->done);
}

TEST_WITH_WORKERS(a_sleeper_is_late_from_its_deadline_on)
{
	struct sleeper s;
	uint64_t       latency, before, slept;

	sennit_metrics_record(w->s, 1);
	do { /* until it comes to the sleep before the deadline */
		s.awake = false;
		latency = latency_of(w->s).histogram.sum;
		before = find(w->s, "sennit_wait_seconds", "sleep")
				 .histogram.sum;
		sennit_wait_group_init(&s.done, 2);
		must_schedule_here(sleep_until, &s);
		sennit_wait_group_wait(&s.done);
	} while (!s.slept);
	assert_true(latency_of(w->s).histogram.sum - latency >=
		    about(s.over - s.deadline));
	slept = find(w->s, "sennit_wait_seconds", "sleep").histogram.sum -
		before;
	assert_true(slept > 0);
	assert_true(about(slept) <= s.deadline - s.begin + 1000);
}
