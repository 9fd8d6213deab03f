/* SPDX-License-Identifier: Apache-2.0 */
/* wakes.c - the system calls of scheduling, waking many and idling: counted,
 * not timed.
 *
 * This file replaces syscall() by one that counts the calling thread's futex
 * wakes, and the workers that sleep without a deadline.
 */
#include "next_syscall.h"
#include "testing/with_workers.h"

#include "base/torture.h"

#include <errno.h>

/* --- a syscall that counts ---------------------------------------------- */

static _Thread_local bool     is_worker; /* set by the scheduler's
					  * thread_init */
static _Thread_local unsigned wakes;     /* of this thread */
static atomic_uint            wakes_of_all;
static atomic_uint            endless; /* workers that sleep without a
				        * deadline */
static atomic_uint            sleeps;  /* how often a worker began such a
				        * sleep */

/* This thread's wakes return only when a worker has fallen asleep again, so
 * that each hand-over to a worker counts. */
static _Thread_local bool patient;

static long wake(const struct call *c)
{
	const sennit_time give_up = sennit_after(GIVE_UP);
	const unsigned    before = atomic_load(&sleeps);
	long              result = make_call(c);

	wakes++;
	atomic_fetch_add(&wakes_of_all, 1);
	while (patient && atomic_load(&sleeps) == before &&
	       sennit_now() < give_up)
		sched_yield();
	return result;
}

long syscall(long number, ...)
{
	struct call c;
	long        result;
	va_list     arguments;

	va_start(arguments, number);
	c = call_of(number, arguments);
	va_end(arguments);
	if (is_wake(&c))
		return wake(&c);
	if (!is_worker || !is_endless(&c))
		return make_call(&c);
	atomic_fetch_add(&endless, 1);
	atomic_fetch_add(&sleeps, 1);
	result = make_call(&c);
	atomic_fetch_sub(&endless, 1);
	return result;
}

/* --- claims ------------------------------------------------------------- */

static void note_worker(void *unused, uint32_t index)
{
	is_worker = true;
}

static sennit_scheduler *start_counted(uint32_t workers)
{
	atomic_store(&endless, 0);
	/* No deadline for trimming, either: see core/test/api/trim.c. */
	return start_with(SENNIT_CONFIG(.workers = workers,
					.trim_ms = SENNIT_TRIM_NEVER,
					.thread_init = note_worker));
}

TEST_WITH_THREAD_COUNTS(idle_workers_end_up_asleep_without_a_deadline)
{
	sennit_scheduler *s = start_counted(w->workers);

	assert_soon(atomic_load(&endless) == w->workers);
	end_scheduler(s);
}

static void finish(void *done)
{
	sennit_wait_group_done(done);
}

enum { BATCH = 100 };

/* With all workers asleep, schedule `count` tasks, singly or at once, and let
 * them run. Returns how often the scheduling woke a worker. That is 0 if a
 * worker was woken just before, because it already counts as a searcher.
 */
static unsigned wakes_for(const struct world *w, sennit_scheduler *s,
			  unsigned count, bool at_once)
{
	sennit_wait_group done;
	sennit_task       tasks[BATCH];
	unsigned          woken, i;

	sennit_wait_group_init(&done, count);
	for (i = 0; i < count; i++)
		tasks[i] = (sennit_task){ .run = finish, .argument = &done };
	assert_soon(atomic_load(&endless) == w->workers);
	atomic_store(&wakes_of_all, 0);
	wakes = 0;
	if (at_once)
		assert_int_equal(sennit_schedule_many_on(s, tasks, count), 0);
	for (i = 0; i < count && !at_once; i++)
		assert_int_equal(sennit_schedule_task_on(s, &tasks[i]), 0);
	woken = wakes;
	assert_soon(sennit_wait_group_wait_until(&done, 0) == 0);
	return woken;
}

TEST_WITH_THREAD_COUNTS(one_task_wakes_one_worker_at_most)
{
	sennit_scheduler *s = start_counted(w->workers);
	unsigned          round;

	for (round = 0; round < 10; round++) {
		assert_in_range(wakes_for(w, s, 1, round % 2), 0, 1);
		assert_soon(atomic_load(&endless) == w->workers);
		assert_in_range(atomic_load(&wakes_of_all), 0, 1);
	}
	end_scheduler(s);
}

TEST_WITH_THREAD_COUNTS(a_batch_wakes_one_worker_at_most)
{
	sennit_scheduler *s = start_counted(w->workers);
	unsigned          round;

	for (round = 0; round < 10; round++)
		assert_in_range(wakes_for(w, s, BATCH, true), 0, 1);
	end_scheduler(s);
}

TEST_WITH_THREAD_COUNTS(tasks_wake_no_more_than_one_worker_each)
{
	sennit_scheduler *s = start_counted(w->workers);
	unsigned          round;

	for (round = 0; round < 10; round++)
		assert_in_range(wakes_for(w, s, BATCH, false), 0, BATCH);
	end_scheduler(s);
}

struct inside {
	sennit_wait_group over;
	uint32_t          workers;
	unsigned          woken;
};

struct elsewhere {
	pthread_t         here;
	atomic_uint       helped; /* tasks that ran on another thread */
	sennit_wait_group done;
};

static void note_where(void *argument)
{
	struct elsewhere *e = argument;

	if (!pthread_equal(pthread_self(), e->here))
		atomic_fetch_add(&e->helped, 1);
	sennit_wait_group_done(&e->done);
}

/* Runs on a worker with all others asleep. One of them must come, because this
 * worker only waits for it. */
static void schedule_inside(void *argument)
{
	const sennit_time give_up = sennit_after(GIVE_UP);
	struct inside    *in = argument;
	struct elsewhere  e = { .here = pthread_self() };
	sennit_task       tasks[BATCH];

	while (atomic_load(&endless) < in->workers - 1)
		sched_yield();
	for (unsigned i = 0; i < BATCH; i++)
		tasks[i] = (sennit_task){ .run = note_where, .argument = &e };
	sennit_wait_group_init(&e.done, BATCH);
	wakes = 0;
	EXPECT(sennit_schedule_many(tasks, BATCH) == 0);
	in->woken = wakes;
	while (in->workers > 1 && !atomic_load(&e.helped) &&
	       sennit_now() < give_up)
		sched_yield();
	EXPECT(in->workers == 1 || atomic_load(&e.helped));
	sennit_wait_group_wait(&e.done);
	sennit_wait_group_done(&in->over);
}

TEST_WITH_THREAD_COUNTS(one_of_a_task_wakes_one_other_who_comes)
{
	sennit_scheduler *s = start_counted(w->workers);
	struct inside     in = { .workers = w->workers };
	const sennit_task t = { .run = schedule_inside, .argument = &in };
	unsigned          round;

	for (round = 0; round < 10; round++) {
		sennit_wait_group_init(&in.over, 1);
		assert_int_equal(sennit_schedule_task_on(s, &t), 0);
		sennit_wait_group_wait(&in.over);
		assert_in_range(in.woken, 0, w->workers > 1);
	}
	end_scheduler(s);
}

/* --- waking many -------------------------------------------------------- */

/* Fibers of all workers, in turn, that wait for one event. */
struct channel_waiter {
	sennit_group      group;
	sennit_event      gate;
	sennit_wait_group over;
	uint32_t          workers;
	unsigned          guests;
	atomic_uint       present, waiting;
	atomic_uint       let_in, sent_home;
};

struct guest {
	struct channel_waiter *party;
	unsigned               number; /* from 1 */
	atomic_bool            here;   /* of its worker */
};

/* The guest of this thread that continued last. */
static _Thread_local unsigned gone_on;

static int wait_at_gate(void *argument)
{
	struct guest          *g = argument;
	struct channel_waiter *p = g->party;
	const unsigned         number = g->number;
	int                    err;

	g->here = true;
	err = sennit_event_wait_until(&p->gate, SENNIT_NEVER);
	EXPECT(!err || err == -ECANCELED);
	EXPECT(number > gone_on); /* in the order of arrival */
	gone_on = number;
	atomic_fetch_add(err ? &p->sent_home : &p->let_in, 1);
	return 0;
}

/* There are as many of these as workers. They spin until all of them run, each
 * on its own worker, and until all guests are there. So no worker is free to
 * take a guest from another. A guest that has arrived waits when this runs
 * again on the same thread. */
static int bring_guests(void *party)
{
	struct channel_waiter *p = party;
	const unsigned         me = atomic_fetch_add(&p->present, 1);

	while (atomic_load(&p->present) < p->workers)
		sched_yield();
	for (unsigned i = me; i < p->guests; i += p->workers) {
		struct guest g = { .party = p, .number = i + 1 };

		while (atomic_load(&p->waiting) < i)
			sched_yield();
		EXPECT(sennit_group_spawn(&p->group, wait_at_gate, &g) == 0);
		while (!g.here)
			sennit_yield();
		atomic_fetch_add(&p->waiting, 1);
	}
	while (atomic_load(&p->waiting) < p->guests)
		sched_yield();
	return 0;
}

static void give_party(void *party)
{
	struct channel_waiter *p = party;

	sennit_group_init(&p->group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (uint32_t i = 0; i < p->workers; i++)
		EXPECT(!sennit_group_spawn(&p->group, bring_guests, p));
	sennit_group_wait(&p->group);
	sennit_wait_group_done(&p->over);
}

/* How often the caller wakes a worker when it opens the gate to this many
 * guests or sends them home. */
static unsigned wakes_for_guests(const struct world *w, unsigned guests,
				 bool cancel)
{
	sennit_scheduler     *s = start_counted(w->workers);
	struct channel_waiter p = { .workers = w->workers, .guests = guests };
	const sennit_task     t = { .run = give_party, .argument = &p };

	sennit_event_init(&p.gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&p.over, 1);
	assert_int_equal(sennit_schedule_task_on(s, &t), 0);
	assert_soon(atomic_load(&p.waiting) == guests &&
		    atomic_load(&endless) == w->workers);
	wakes = 0;
	patient = true;
	if (cancel)
		sennit_group_cancel(&p.group);
	else
		sennit_event_set(&p.gate);
	patient = false;
	guests = wakes;
	sennit_wait_group_wait(&p.over);
	assert_int_equal(atomic_load(cancel ? &p.sent_home : &p.let_in),
			 p.guests);
	end_scheduler(s);
	return guests;
}

TEST_WITH_THREAD_COUNTS(a_broadcast_wakes_each_worker_once)
{
	unsigned few = 2 * w->workers;

	assert_in_range(wakes_for_guests(w, few, false), 0, w->workers);
}

TEST_WITH_THREAD_COUNTS(a_cancel_wakes_each_worker_once)
{
	unsigned few = 2 * w->workers;

	assert_in_range(wakes_for_guests(w, few, true), 0, w->workers);
}

/* So many that no fiber is held back until all have been looked at. */
TEST_WITH_THREAD_COUNTS(many_are_woken_by_the_hundred)
{
	unsigned many = TORTURED(300, LOAD(2000));
	unsigned often = w->workers + many / TORTURED(2, 100);

	assert_in_range(wakes_for_guests(w, many, false), 2, often);
	assert_in_range(wakes_for_guests(w, many, true), 2, often);
}
