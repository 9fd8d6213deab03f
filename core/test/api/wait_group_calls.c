/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_calls.c - tasks that run on the stack of a fiber that waits for
 * their wait group: where they run, and that this has no other effect. */
#include "testing/tied.h"
#include "local_values.h"

#include <errno.h>

/* --- where tasks run ---------------------------------------------------- */

struct place {
	sennit_fiber *waiter;
	atomic_uint   same, other;
};

static void note_place(void *argument)
{
	struct place *p = argument;

	count(sennit_fiber_current() == p->waiter ? &p->same : &p->other);
}

static void look_where_tasks_run(void *argument)
{
	struct place     *p = argument;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	p->waiter = sennit_fiber_current();
	for (int i = 0; i < 300; i++) {
		tie(&g, note_place, p);
		sennit_wait_group_wait(&g);
	}
}

TEST_WITH_ONE(a_wait_runs_own_tasks_on_its_stack)
{
	struct place p = { .waiter = NULL };

	in_a_task(look_where_tasks_run, &p);
	/* Except for those whose dispatch the loop had to make. */
	assert_true(atomic_load(&p.same) > 250);
	assert_int_equal(atomic_load(&p.same) + atomic_load(&p.other), 300);
}

static void wait_with_a_deadline(void *argument)
{
	struct place     *p = argument;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	p->waiter = sennit_fiber_current();
	for (int i = 0; i < 100; i++) {
		tie(&g, note_place, p);
		EXPECT(sennit_wait_group_wait_until(&g, SENNIT_NEVER) == 0);
	}
}

TEST_WITH_WORKERS(a_wait_with_a_deadline_runs_none)
{
	struct place p = { .waiter = NULL };

	in_a_task(wait_with_a_deadline, &p);
	assert_int_equal(atomic_load(&p.same), 0);
}

struct chain {
	unsigned depth, reached;
};

static void descend(void *argument)
{
	struct chain     *c = argument;
	volatile char     room[256];
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;
	sennit_task_fn   *next = descend;

	memset((char *)(uintptr_t)room, 1, sizeof(room));
	c->reached++;
	if (!c->depth--)
		return;
	tie(&g, next, c);
	sennit_wait_group_wait(&g);
	EXPECT(room[0] == 1 && room[255] == 1);
}

TEST_WITH_WORKERS(deep_recursion_goes_on_on_other_stacks)
{
	unsigned     depth = LOAD(5000);
	struct chain c = { .depth = depth };

	in_a_task(descend, &c);
	assert_int_equal(c.reached, depth + 1);
}

static void wait_for_event(void *argument)
{
	EXPECT(!sennit_event_wait(argument));
}

/* The task of `outer`, the newest, waits for what the waiter for `inner` does
 * next. So it must not run on top of that waiter's frames. */
TEST_IN_BOTH_PLACES(a_wait_runs_no_tasks_of_other_wait_groups)
{
	sennit_event      after = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	atomic_uint       ran = 0;
	sennit_wait_group outer = SENNIT_WAIT_GROUP_INIT;
	sennit_wait_group inner = SENNIT_WAIT_GROUP_INIT;

	tie(&inner, count, &ran);
	tie(&outer, wait_for_event, &after);
	sennit_wait_group_wait(&inner);
	sennit_event_set(&after);
	sennit_wait_group_wait(&outer);
}

/* --- what a task does not share ----------------------------------------- */

static void change_errno(void *argument)
{
	errno = ERANGE;
}

TEST_IN_BOTH_PLACES(a_wait_keeps_errno)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	for (int i = 0; i < 100; i++) {
		tie(&g, change_errno, NULL);
		errno = EDOM;
		sennit_wait_group_wait(&g);
		EXPECT(errno == EDOM);
	}
}

static void try_lock(void *argument)
{
	EXPECT(sennit_mutex_lock_until(argument, 0) == -ETIMEDOUT);
}

TEST_IN_BOTH_PLACES(a_task_does_not_own_what_the_waiter_locked)
{
	sennit_mutex      m = SENNIT_MUTEX_INIT;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	for (int i = 0; i < 100; i++) {
		sennit_mutex_lock(&m);
		tie(&g, try_lock, &m);
		sennit_wait_group_wait(&g);
		sennit_mutex_unlock(&m);
	}
}

/* Two waiters for one wait group each run one of its tasks. */
struct two {
	sennit_wait_group g, over;
	sennit_mutex      m;
	sennit_event      tried;
};

static void try_lock_and_tell(void *argument)
{
	struct two *t = argument;

	EXPECT(sennit_mutex_lock_until(&t->m, 0) == -ETIMEDOUT);
	sennit_event_set(&t->tried);
}

static void wait_second(void *argument)
{
	struct two *t = argument;

	tie(&t->g, try_lock_and_tell, t);
	sennit_wait_group_wait(&t->g);
	sennit_wait_group_done(&t->over);
}

static void lock_and_wait(void *argument)
{
	struct two *t = argument;

	sennit_mutex_lock(&t->m);
	must_schedule(wait_second, t);
	EXPECT(!sennit_event_wait(&t->tried));
	sennit_mutex_unlock(&t->m);
}

static void wait_first(void *argument)
{
	struct two *t = argument;

	tie(&t->g, lock_and_wait, t);
	sennit_wait_group_wait(&t->g);
	sennit_wait_group_wait(&t->over);
}

TEST_WITH_WORKERS(tasks_of_one_wait_group_own_apart)
{
	for (int i = 0; i < 100; i++) {
		struct two t = { .g = SENNIT_WAIT_GROUP_INIT };

		sennit_wait_group_init(&t.over, 1);
		in_a_task(wait_first, &t);
	}
}

static void set_and_name(void *argument)
{
	struct local_case *w = argument;

	EXPECT(!sennit_local_get(w->key));
	must_set(w->key, w);
	sennit_task_set_name("tied");
}

static void wait_with_values(void *argument)
{
	struct local_case *w = argument;
	sennit_wait_group  g = SENNIT_WAIT_GROUP_INIT;

	must_set(w->key, &w->other);
	for (int i = 0; i < 10; i++)
		tie(&g, set_and_name, w);
	sennit_wait_group_wait(&g);
	EXPECT(sennit_local_get(w->key) == &w->other);
	EXPECT(atomic_load(&w->ended) == 10);
	must_set(w->key, NULL);
}

TEST_WITH_WORKERS(a_task_has_local_values_of_its_own)
{
	struct local_case values = { .ended = 0 };

	values.key = must_create(count_up);
	in_a_task(wait_with_values, &values);
	sennit_local_key_destroy(values.key);
}

static void look_for_cancellation(void *argument)
{
	EXPECT(sennit_check_cancelled() == 0);
}

static int wait_in_a_cancelled_group(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	sennit_group_cancel(argument);
	tie(&g, look_for_cancellation, NULL);
	sennit_wait_group_wait(&g);
	EXPECT(sennit_check_cancelled() == -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(a_task_is_outside_of_the_waiters_group)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_in_a_cancelled_group, &g),
			 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}
