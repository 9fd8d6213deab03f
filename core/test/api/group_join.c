/* SPDX-License-Identifier: Apache-2.0 */
/* group_join.c - members that run on the stack of the waiting opener: where
 * they run, that this has no other effect, and fairness. */
#include "members.h"
#include "testing/with_workers.h"

#include <errno.h>

static int count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return 0;
}

/* --- members on the opener's stack -------------------------------------- */

struct place {
	sennit_fiber *opener;
	atomic_uint   same, other;
};

static int note_place(void *argument)
{
	struct place *p = argument;

	return count(sennit_fiber_current() == p->opener ? &p->same
							 : &p->other);
}

static void look_where(struct place *p, uint32_t flags)
{
	sennit_group g;

	p->opener = sennit_fiber_current();
	for (int i = 0; i < 300; i++) {
		sennit_group_init(&g, SENNIT_NEVER, flags);
		must_spawn(&g, note_place, p);
		EXPECT(sennit_group_wait(&g) == 0);
	}
}

static void look_where_members_run(void *argument)
{
	look_where(argument, 0);
}

static void look_where_members_run_apart(void *argument)
{
	look_where(argument, SENNIT_GROUP_OWN_STACKS);
}

TEST_WITH_ONE(a_wait_runs_own_members_on_its_stack)
{
	struct place p = { .opener = NULL };

	in_a_task(look_where_members_run, &p);
	/* Except for those whose dispatch the loop had to make. */
	assert_true(atomic_load(&p.same) > 250);
}

TEST_WITH_WORKERS(with_own_stacks_no_member_runs_on_another_stack)
{
	struct place p = { .opener = NULL };

	in_a_task(look_where_members_run_apart, &p);
	assert_int_equal(atomic_load(&p.same), 0);
	assert_int_equal(atomic_load(&p.other), 300);
}

struct chain {
	unsigned depth;
	unsigned reached;
};

/* As deep as possible: nested groups. */
static int descend(void *argument)
{
	struct chain     *c = argument;
	volatile char     room[256];
	sennit_group      g;
	sennit_member_fn *next = descend;

	memset((char *)(uintptr_t)room, 1, sizeof(room));
	c->reached++;
	if (!c->depth--)
		return 0;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, next, c);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(room[0] == 1 && room[255] == 1);
	return 0;
}

TEST_WITH_WORKERS(deep_recursion_goes_on_on_other_stacks)
{
	unsigned     depth = LOAD(5000);
	struct chain c = { .depth = depth };
	sennit_group g;

	open_on(w, &g, 0);
	must_spawn(&g, descend, &c);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(c.reached, depth + 1);
}

static int change_errno(void *argument)
{
	errno = ERANGE;
	return 0;
}

TEST_IN_EACH_PLACE_OF(a_wait_keeps_errno)
{
	sennit_group g;

	for (int i = 0; i < 100; i++) {
		open_on(world, &g, 0);
		must_spawn(&g, change_errno, NULL);
		errno = EDOM;
		EXPECT(sennit_group_wait(&g) == 0);
		EXPECT(errno == EDOM);
	}
}

/* Siblings that need each other, in both orders. */
struct pair {
	sennit_event called, answered;
};

static int call_sibling(void *argument)
{
	struct pair *p = argument;

	sennit_event_set(&p->called);
	EXPECT(!sennit_event_wait(&p->answered));
	return 0;
}

static int answer_sibling(void *argument)
{
	struct pair *p = argument;

	EXPECT(!sennit_event_wait(&p->called));
	sennit_event_set(&p->answered);
	return 0;
}

TEST_IN_EACH_PLACE_OF(siblings_may_wait_for_each_other)
{
	struct pair  pairs[20];
	sennit_group g;

	memset(pairs, 0, sizeof(pairs));
	open_on(world, &g, 0);
	for (int i = 0; i < 20; i++) {
		must_spawn(&g, i % 2 ? call_sibling : answer_sibling,
			   &pairs[i]);
		must_spawn(&g, i % 2 ? answer_sibling : call_sibling,
			   &pairs[i]);
	}
	EXPECT(sennit_group_wait(&g) == 0);
}

static int wait_for_event(void *argument)
{
	EXPECT(!sennit_event_wait(argument));
	return 0;
}

/* The outer group's member waits for a signal that the inner group's opener
 * sends after its wait. So the member must not run on top of that opener's
 * frames. */
TEST_IN_EACH_PLACE_OF(a_wait_runs_no_members_of_other_groups)
{
	sennit_event after = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	atomic_uint  ran = 0;
	sennit_group outer, inner;

	open_on(world, &outer, 0);
	open_on(world, &inner, 0);
	must_spawn(&inner, count, &ran);
	must_spawn(&outer, wait_for_event, &after);
	EXPECT(sennit_group_wait(&inner) == 0);
	sennit_event_set(&after);
	EXPECT(sennit_group_wait(&outer) == 0);
}

static int try_lock(void *argument)
{
	EXPECT(sennit_mutex_lock_until(argument, 0) == -ETIMEDOUT);
	return 0;
}

static int lock_and_unlock(void *argument)
{
	EXPECT(sennit_mutex_lock_until(argument, 0) == 0);
	sennit_mutex_unlock(argument);
	return 0;
}

TEST_IN_EACH_PLACE_OF(a_member_does_not_own_what_the_waiter_locked)
{
	sennit_mutex m = SENNIT_MUTEX_INIT, other = SENNIT_MUTEX_INIT;
	sennit_group g;

	for (int i = 0; i < 100; i++) {
		open_on(world, &g, 0);
		sennit_mutex_lock(&m);
		must_spawn(&g, lock_and_unlock, &other);
		EXPECT(sennit_group_wait(&g) == 0);
		open_on(world, &g, 0);
		must_spawn(&g, try_lock, &m);
		EXPECT(sennit_group_wait(&g) == 0);
		sennit_mutex_unlock(&m);
	}
}

/* --- fairness ----------------------------------------------------------- */

static void raise_flag(void *argument)
{
	atomic_store((atomic_uint *)argument, 1);
}

/* Spawn and wait until the flag is set. */
static void spawn_until_raised(void *argument)
{
	atomic_uint *flag = argument;
	atomic_uint  ran = 0;
	sennit_time  give_up = sennit_after(GIVE_UP);
	sennit_group g;

	must_schedule(raise_flag, flag);
	while (!atomic_load(flag) && sennit_now() < give_up) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, count, &ran);
		EXPECT(sennit_group_wait(&g) == 0);
	}
	EXPECT(atomic_load(flag));
}

TEST_WITH_WORKERS(older_tasks_start_though_waits_go_on)
{
	atomic_uint flag = 0;

	in_a_task(spawn_until_raised, &flag);
}

static void sleep_and_raise(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	raise_flag(argument);
}

static void spawn_until_timer(void *argument)
{
	atomic_uint *flag = argument;
	atomic_uint  ran = 0;
	sennit_time  give_up = sennit_after(GIVE_UP);
	sennit_group g;

	must_schedule(sleep_and_raise, flag);
	sennit_yield();
	while (!atomic_load(flag) && sennit_now() < give_up) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, count, &ran);
		EXPECT(sennit_group_wait(&g) == 0);
	}
	EXPECT(atomic_load(flag));
}

TEST_WITH_WORKERS(timers_fire_though_waits_go_on)
{
	atomic_uint flag = 0;

	in_a_task(spawn_until_timer, &flag);
}
