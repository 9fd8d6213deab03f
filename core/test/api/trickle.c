/* SPDX-License-Identifier: Apache-2.0 */
/* trickle.c - tasks that come one by one while all workers sleep: what each of
 * them costs, and where they run.
 *
 * This file replaces syscall() by one that counts the workers that sleep
 * without a deadline, and their other sleeps.
 */
#include "next_syscall.h"
#include "testing/with_workers.h"

static _Thread_local bool is_worker;
static atomic_uint        endless; /* workers that sleep without a deadline */
static atomic_uint        naps;    /* sleeps of workers with a deadline */

long syscall(long number, ...)
{
	struct call c;
	long        result;
	va_list     arguments;

	va_start(arguments, number);
	c = call_of(number, arguments);
	va_end(arguments);
	if (!is_worker || !is_sleep(&c))
		return make_call(&c);
	if (!is_endless(&c)) {
		atomic_fetch_add(&naps, 1);
		return make_call(&c);
	}
	atomic_fetch_add(&endless, 1);
	result = make_call(&c);
	atomic_fetch_sub(&endless, 1);
	return result;
}

static _Thread_local uint32_t me;

static void note_worker(void *unused, uint32_t index)
{
	is_worker = true;
	me = index;
}

static sennit_scheduler *start_counted(uint32_t workers)
{
	atomic_store(&endless, 0);
	/* No deadline for trimming, either. */
	return start_with(SENNIT_CONFIG(.workers = workers,
					.trim_ms = SENNIT_TRIM_NEVER,
					.thread_init = note_worker));
}

enum { TASKS = 24 };

struct crowd {
	sennit_event      gate; /* the waiting tasks wait for it */
	sennit_wait_group left;
	atomic_uint       started;
	unsigned          on[SENNIT_WORKERS_MAX]; /* tasks that each worker
						   * started */
};

static void come(void *crowd)
{
	struct crowd *c = crowd;

	c->on[me]++;
	atomic_fetch_add(&c->started, 1);
	EXPECT(!sennit_event_wait(&c->gate));
	sennit_wait_group_done(&c->left);
}

/* Let TASKS tasks come, each when all workers sleep. They find the gate open or
 * wait there. */
static void trickle(struct crowd *c, sennit_scheduler *s, uint32_t workers,
		    bool open)
{
	const sennit_task t = { .run = come, .argument = c };

	memset(c, 0, sizeof(*c));
	sennit_event_init(&c->gate,
			  SENNIT_EVENT_MANUAL | (open ? SENNIT_EVENT_SET : 0));
	sennit_wait_group_init(&c->left, TASKS);
	for (unsigned i = 0; i < TASKS; i++) {
		assert_soon(atomic_load(&endless) == workers);
		if (!i)
			atomic_store(&naps, 0);
		assert_int_equal(sennit_schedule_task_on(s, &t), 0);
		assert_soon(atomic_load(&c->started) == i + 1);
	}
	assert_soon(atomic_load(&endless) == workers);
}

TEST_WITH_THREAD_COUNTS(who_falls_asleep_last_takes_no_nap)
{
	sennit_scheduler *s = start_counted(w->workers);
	struct crowd      c;

	trickle(&c, s, w->workers, true);
	assert_int_equal(atomic_load(&naps), 0);
	sennit_wait_group_wait(&c.left);
	end_scheduler(s);
}

TEST_WITH_THREAD_COUNTS(tasks_that_do_not_wait_run_on_one_worker)
{
	sennit_scheduler *s = start_counted(w->workers);
	struct crowd      c;
	uint32_t          i = 0;

	trickle(&c, s, w->workers, true);
	while (!c.on[i])
		i++;
	assert_int_equal(c.on[i], TASKS);
	sennit_wait_group_wait(&c.left);
	end_scheduler(s);
}

/* A fiber stays with its worker, so those that wait must not all be on one. */
TEST_WITH_THREAD_COUNTS(tasks_that_wait_are_spread)
{
	sennit_scheduler *s = start_counted(w->workers);
	struct crowd      c;

	trickle(&c, s, w->workers, false);
	for (uint32_t i = 0; i < w->workers; i++)
		assert_in_range(c.on[i], TASKS / w->workers / 2,
				TASKS / w->workers * 3 / 2 + 4);
	sennit_event_set(&c.gate);
	sennit_wait_group_wait(&c.left);
	end_scheduler(s);
}
