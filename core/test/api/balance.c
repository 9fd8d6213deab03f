/* SPDX-License-Identifier: Apache-2.0 */
/* balance.c - no worker sleeps while another has a task that it cannot start,
 * not even when both reached a sleeper at the same time. */
#include "testing/with_workers.h"

enum { ROUNDS = 300 };

/* A fiber that is busy until a task has run. */
struct errands {
	sennit_event      wake_fiber; /* auto */
	sennit_event      fiber_done; /* auto */
	sennit_wait_group fibers;
	atomic_bool       task_ran;
	atomic_bool       over;
};

static void run_the_task(void *argument)
{
	atomic_store(&((struct errands *)argument)->task_ran, true);
}

/* As SOON, but the worker stays busy. */
static bool comes_soon(const atomic_bool *it)
{
	sennit_time spent = 0;

	while (!atomic_load(it) && count_pause(&spent, sennit_now()))
		;
	return atomic_load(it);
}

static void be_busy_until_it_ran(void *argument)
{
	struct errands *e = argument;

	for (;;) {
		EXPECT(!sennit_event_wait(&e->wake_fiber));
		if (atomic_load(&e->over))
			break;
		EXPECT(comes_soon(&e->task_ran));
		sennit_event_set(&e->fiber_done);
	}
	sennit_wait_group_done(&e->fibers);
}

/* Wake the fiber and send the task at the same time, so that they often reach
 * the same worker before it has woken. Alternates between the fiber's worker
 * and another. */
static void bring_both(struct errands *e, sennit_scheduler *s)
{
	const sennit_task t = { .run = run_the_task, .argument = e };

	atomic_store(&e->task_ran, false);
	EXPECT(sennit_schedule_task_on(s, &t) == 0);
	sennit_event_set(&e->wake_fiber);
	EXPECT(!sennit_event_wait(&e->fiber_done));
}

TEST_WITH_SEVERAL(a_task_is_not_left_behind_a_busy_fiber)
{
	struct errands e = { .over = false };

	sennit_event_init(&e.wake_fiber, SENNIT_EVENT_AUTO);
	sennit_event_init(&e.fiber_done, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&e.fibers, 1);
	must_schedule(be_busy_until_it_ran, &e);
	for (unsigned i = 0; i < ROUNDS && !atomic_load(&broken_claims); i++) {
		bring_both(&e, w->s);
		sennit_sleep(2 * SENNIT_MILLISECOND); /* usually asleep by
						       * then */
	}
	atomic_store(&e.over, true);
	sennit_event_set(&e.wake_fiber);
	sennit_wait_group_wait(&e.fibers);
}
