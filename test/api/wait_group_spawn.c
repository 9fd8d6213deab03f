/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_spawn.c - tasks tied to a wait group: they run once and count
 * themselves off; where a wait runs them, and that this has no other effect. */
#include "domain_record.h"

#include <errno.h>

static void tie(sennit_wait_group *g, sennit_task_fn *run, void *argument)
{
	EXPECT(sennit_wait_group_spawn(g, run, argument) == 0);
}

static void count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
}

/* Run run(argument) on the bound thread's own stack, and as a task. */
static void in_both_places(sennit_task_fn *run, void *argument)
{
	run(argument);
	in_a_task(run, argument);
}

/* --- counting ----------------------------------------------------------- */

static void spawn_some(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;
	atomic_uint       ran = 0;

	(void)argument;
	for (unsigned round = 1; round <= 5; round++) {
		for (int i = 0; i < 100; i++)
			tie(&g, count, &ran);
		sennit_wait_group_wait(&g);
		EXPECT(atomic_load(&ran) == round * 100);
	}
	sennit_wait_group_destroy(&g);
}

static void a_wait_ends_when_all_tasks_have(void **state)
{
	(void)state;
	in_both_places(spawn_some, NULL);
}

static void spawn_nothing(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)argument;
	EXPECT(sennit_wait_group_spawn(&g, NULL, NULL) == -EINVAL);
	EXPECT(sennit_wait_group_wait_until(&g, 0) == 0);
}

static void an_error_leaves_the_count(void **state)
{
	(void)state;
	in_both_places(spawn_nothing, NULL);
}

struct rest {
	sennit_wait_group g;
	sennit_event      seen;
	atomic_uint       ran;
};

static void finish(void *argument)
{
	struct rest *r = argument;

	sennit_event_wait(&r->seen);
	atomic_fetch_add(&r->ran, 1);
	sennit_wait_group_done(&r->g);
}

static void go_on(void *argument)
{
	struct rest *r = argument;

	atomic_fetch_add(&r->ran, 1);
	sennit_event_set(&r->seen);
}

/* The count of an ordinary task, which goes on only after the tied one. */
static void wait_for_both_kinds(void *argument)
{
	struct rest r = { .ran = 0 };

	(void)argument;
	sennit_wait_group_init(&r.g, 1);
	must_schedule(finish, &r);
	tie(&r.g, go_on, &r);
	sennit_wait_group_wait(&r.g);
	EXPECT(atomic_load(&r.ran) == 2);
}

static void the_rest_of_the_count_may_come_from_others(void **state)
{
	(void)state;
	in_both_places(wait_for_both_kinds, NULL);
}

static void spawn_more(void *argument)
{
	struct rest *r = argument;

	if (atomic_fetch_add(&r->ran, 1) < 100)
		tie(&r->g, spawn_more, r);
}

static void wait_for_a_chain(void *argument)
{
	struct rest r = { .ran = 0 };

	(void)argument;
	tie(&r.g, spawn_more, &r);
	sennit_wait_group_wait(&r.g);
	EXPECT(atomic_load(&r.ran) == 101);
}

static void tasks_may_spawn_into_their_wait_group(void **state)
{
	(void)state;
	in_both_places(wait_for_a_chain, NULL);
}

static void wait_and_count_it(void *argument)
{
	struct rest *r = argument;

	sennit_wait_group_wait(&r->g);
	EXPECT(atomic_load(&r->ran) == 300);
	sennit_event_set(&r->seen);
}

static void wait_twice(void *argument)
{
	struct rest r = { .ran = 0 };

	(void)argument;
	sennit_event_init(&r.seen, SENNIT_EVENT_MANUAL, false);
	for (int i = 0; i < 300; i++)
		tie(&r.g, count, &r.ran);
	must_schedule(wait_and_count_it, &r);
	sennit_wait_group_wait(&r.g);
	EXPECT(atomic_load(&r.ran) == 300);
	sennit_event_wait(&r.seen);
}

static void several_may_wait(void **state)
{
	(void)state;
	in_both_places(wait_twice, NULL);
}

static void tasks_are_counted(void **state)
{
	struct world  *w = *state;
	const uint64_t before = stats_of(w->s).tasks;

	in_a_task(spawn_some, NULL);
	assert_soon(stats_of(w->s).tasks == before + 501);
}

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

static void a_wait_runs_own_tasks_on_its_stack(void **state)
{
	struct place p = { .waiter = NULL };

	(void)state;
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

static void a_wait_with_a_deadline_runs_none(void **state)
{
	struct place p = { .waiter = NULL };

	(void)state;
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

static void deep_recursion_goes_on_on_other_stacks(void **state)
{
	unsigned     depth = LOAD(5000);
	struct chain c = { .depth = depth };

	(void)state;
	in_a_task(descend, &c);
	assert_int_equal(c.reached, depth + 1);
}

static void wait_for_event(void *argument)
{
	sennit_event_wait(argument);
}

/* The task of `outer`, the newest, waits for what the waiter for `inner` does
 * next. So it must not run on top of that waiter's frames. */
static void signal_after_a_wait(void *argument)
{
	sennit_event      after = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	atomic_uint       ran = 0;
	sennit_wait_group outer = SENNIT_WAIT_GROUP_INIT;
	sennit_wait_group inner = SENNIT_WAIT_GROUP_INIT;

	(void)argument;
	tie(&inner, count, &ran);
	tie(&outer, wait_for_event, &after);
	sennit_wait_group_wait(&inner);
	sennit_event_set(&after);
	sennit_wait_group_wait(&outer);
}

static void a_wait_runs_no_tasks_of_other_wait_groups(void **state)
{
	(void)state;
	in_both_places(signal_after_a_wait, NULL);
}

/* --- what a task does not share ----------------------------------------- */

static void change_errno(void *argument)
{
	(void)argument;
	errno = ERANGE;
}

static void wait_with_errno(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)argument;
	for (int i = 0; i < 100; i++) {
		tie(&g, change_errno, NULL);
		errno = EDOM;
		sennit_wait_group_wait(&g);
		EXPECT(errno == EDOM);
	}
}

static void a_wait_keeps_errno(void **state)
{
	(void)state;
	in_both_places(wait_with_errno, NULL);
}

static void try_lock(void *argument)
{
	EXPECT(sennit_mutex_lock_until(argument, 0) == -ETIMEDOUT);
}

static void wait_with_a_lock(void *argument)
{
	sennit_mutex      m = SENNIT_MUTEX_INIT;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	(void)argument;
	for (int i = 0; i < 100; i++) {
		sennit_mutex_lock(&m);
		tie(&g, try_lock, &m);
		sennit_wait_group_wait(&g);
		sennit_mutex_unlock(&m);
	}
}

static void a_task_does_not_own_what_the_waiter_locked(void **state)
{
	(void)state;
	in_both_places(wait_with_a_lock, NULL);
}

static void look_for_cancellation(void *argument)
{
	(void)argument;
	EXPECT(sennit_cancelled() == 0);
}

static int wait_in_a_cancelled_group(void *argument)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	sennit_group_cancel(argument);
	tie(&g, look_for_cancellation, NULL);
	sennit_wait_group_wait(&g);
	EXPECT(sennit_cancelled() == -ECANCELED);
	return 0;
}

static void a_task_is_outside_of_the_waiters_group(void **state)
{
	sennit_group g;

	(void)state;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_in_a_cancelled_group, &g),
			 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

/* --- domains ------------------------------------------------------------ */

static void note_domain(void *argument)
{
	struct part *p = argument;

	EXPECT(sennit_domain_current() == p->d);
	count_run(p);
}

static void spawn_in_domain(void *argument)
{
	struct part      *p = argument;
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	for (int i = 0; i < 100; i++)
		tie(&g, note_domain, p);
	sennit_wait_group_wait(&g);
	EXPECT(atomic_load(&p->ran) == 100);
	count_run(p);
}

static void a_task_is_in_its_spawners_domain(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	atomic_store(&p.due, 100);
	send(&p, spawn_in_domain);
	assert_ends_after(&p, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(a_wait_ends_when_all_tasks_have),
		WITH_WORKERS(an_error_leaves_the_count),
		WITH_WORKERS(the_rest_of_the_count_may_come_from_others),
		WITH_WORKERS(tasks_may_spawn_into_their_wait_group),
		WITH_WORKERS(several_may_wait),
		WITH_WORKERS(tasks_are_counted),
		WITH_ONE(a_wait_runs_own_tasks_on_its_stack),
		WITH_WORKERS(a_wait_with_a_deadline_runs_none),
		WITH_WORKERS(deep_recursion_goes_on_on_other_stacks),
		WITH_WORKERS(a_wait_runs_no_tasks_of_other_wait_groups),
		WITH_WORKERS(a_wait_keeps_errno),
		WITH_WORKERS(a_task_does_not_own_what_the_waiter_locked),
		WITH_WORKERS(a_task_is_outside_of_the_waiters_group),
		WITH_WORKERS(a_task_is_in_its_spawners_domain),
	};

	return cmocka_run_group_tests_name("api/wait_group_spawn", tests, NULL,
					   NULL);
}
