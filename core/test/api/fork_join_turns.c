/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join_turns.c - spawned calls and the rest of the scheduler: depth,
 * turns of other fibers, cancels, many trees at the same time. */
#include "fork_across.h"

#include <errno.h>

/* --- depth ---------------------------------------------------------------- */

SENNIT_FORK(unsigned, descend, unsigned, depth)
{
	volatile char frame[256];
	unsigned      below;

	frame[depth % 256] = 1;
	if (!depth)
		return 0;
	SENNIT_FORK_SPAWN(descend, child, depth - 1);
	below = SENNIT_FORK_SYNC(descend, child);
	return below + (unsigned)frame[depth % 256];
}

static void go_deep(void *unused)
{
	EXPECT(SENNIT_FORK_RUN(descend, LOAD(3000)) == LOAD(3000));
}

TEST_WITH_WORKERS(deep_recursion_goes_on_on_other_stacks)
{
	in_a_task(go_deep, NULL);
}

/* --- turns of other tasks and fibers -------------------------------------- */

static atomic_bool flag;

static void raise_flag(void *unused)
{
	atomic_store(&flag, true);
}

SENNIT_FORK(int, nothing, int, n)
{
	(void)sennit_me_;
	return n;
}

SENNIT_FORK(int, join_until_raised, int, give_up)
{
	sennit_time end = sennit_after(GIVE_UP);
	int         n = 0;

	while (!atomic_load(&flag) && sennit_now() < end) {
		SENNIT_FORK_SPAWN(nothing, child, give_up);
		n = SENNIT_FORK_SYNC(nothing, child);
	}
	return n;
}

static void join_beside_a_fiber(void *unused)
{
	const sennit_task t = { .run = raise_flag,
				.flags = SENNIT_TASK_SAME_THREAD };

	atomic_store(&flag, false);
	EXPECT(!sennit_schedule_task(&t));
	EXPECT(SENNIT_FORK_RUN(join_until_raised, 1) == 1);
	EXPECT(atomic_load(&flag));
}

TEST_WITH_WORKERS(others_have_their_turn_though_joins_go_on)
{
	in_a_task(join_beside_a_fiber, NULL);
}

/* The joins of a tree of this worker before the flag is raised. */
SENNIT_FORK(unsigned, count_joins, unsigned, most)
{
	unsigned joins = 0;

	while (!atomic_load(&flag) && joins < most) {
		SENNIT_FORK_SPAWN(nothing, child, 1);
		joins += (unsigned)SENNIT_FORK_SYNC(nothing, child);
	}
	return joins;
}

/* Others have their turn at every 61st join, and a same-thread task at every
 * other one at least. A task from outside joins the worker's own. If the turn
 * of the old tasks comes then, and the worker loses the CPU in it for half of
 * 500 us (MAX_TASK_AGE), the turn may end before this task: it then waits until
 * it is old, for 1 ms, which is far less than MOST joins. */
enum { TURN = 61, MOST = 10000000 };

#define MAY_END_A_TURN (250 * SENNIT_MICROSECOND)

static void from_this_thread(void)
{
	const sennit_task t = { .run = raise_flag,
				.flags = SENNIT_TASK_SAME_THREAD };

	EXPECT(!sennit_schedule_task(&t));
}

static sennit_scheduler *here;

static void *schedule_there(void *unused)
{
	const sennit_task t = { .run = raise_flag };

	EXPECT(!sennit_schedule_task_on(here, &t));
	return NULL;
}

static void from_another_thread(void)
{
	pthread_t thread;

	here = sennit_scheduler_current();
	EXPECT(!pthread_create(&thread, NULL, schedule_there, NULL));
	EXPECT(!pthread_join(thread, NULL));
}

static void count_until_it_runs(void *prepare)
{
	void (*const *make_due)(void) = prepare;
	const bool  stays = *make_due == from_this_thread;
	sennit_time begin;
	unsigned    joins;

	/* Wherever the count of joins is when it becomes due. */
	for (unsigned before = 0; before < 4 * TURN; before += 7) {
		atomic_store(&flag, false);
		EXPECT(SENNIT_FORK_RUN(count_joins, before) == before);
		(*make_due)();
		begin = sennit_now();
		joins = SENNIT_FORK_RUN(count_joins, MOST);
		EXPECT(joins < MOST);
		EXPECT(joins <= 2 * TURN ||
		       (!stays && sennit_now() - begin >= MAY_END_A_TURN));
	}
}

TEST_WITH_ONE(whoever_is_due_runs_after_122_joins)
{
	static void (*const prepare[])(void) = { from_this_thread,
						 from_another_thread };

	for (size_t i = 0; i < sizeof(prepare) / sizeof(*prepare); i++)
		in_a_task(count_until_it_runs, (void *)&prepare[i]);
}

/* --- cancelling ----------------------------------------------------------- */

SENNIT_FORK(int, wait_for_ever, int, unused)
{
	(void)sennit_me_;
	return sennit_sleep_until(SENNIT_NEVER);
}

SENNIT_FORK(int, wait_in_two, int, unused)
{
	int one, other;

	SENNIT_FORK_SPAWN(wait_for_ever, child, unused);
	one = SENNIT_FORK_CALL(wait_for_ever, unused);
	other = SENNIT_FORK_SYNC(wait_for_ever, child);
	EXPECT(one == -ECANCELED && other == -ECANCELED);
	return one;
}

static int fork_in_a_group(void *unused)
{
	return SENNIT_FORK_RUN(wait_in_two, 0);
}

static void cancel_forks(void *unused)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (int i = 0; i < 4; i++)
		EXPECT(!sennit_group_spawn(&g, fork_in_a_group, NULL));
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

TEST_WITH_WORKERS(cancelling_reaches_calls_wherever_they_run)
{
	everywhere(cancel_forks);
}

/* --- many at the same time ------------------------------------------------ */

static void run_fib(void *done)
{
	EXPECT(SENNIT_FORK_RUN(fib, 12) == 144);
	sennit_wait_group_done(done);
}

TEST_WITH_WORKERS(many_trees_grow_at_once)
{
	static sennit_wait_group done;

	sennit_wait_group_init(&done, 50);
	for (unsigned i = 0; i < 50; i++)
		must_schedule(run_fib, &done);
	sennit_wait_group_wait(&done);
}

TEST_WITH_THREADS(workers_may_come_and_go)
{
	static sennit_wait_group done;
	sennit_scheduler        *s = start_with(
		       SENNIT_CONFIG(.workers = w->workers, .max_workers = 8));

	sennit_thread_unbind();
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&done, 60);
	for (unsigned i = 0; i < 60; i++) {
		must_schedule(run_fib, &done);
		assert_int_equal(sennit_scheduler_set_workers(s, 1 + i % 8), 0);
	}
	sennit_wait_group_wait(&done);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

TEST_WITH_WORKERS(other_orders_and_placements_work)
{
	sennit_thread_unbind();
	for (uint32_t i = 0; i < 4; i++) {
		sennit_scheduler *s = start_with(
			SENNIT_CONFIG(.workers = w->workers,
				      .order = i & 1 ? SENNIT_ORDER_OLDEST
						     : SENNIT_ORDER_DEFAULT,
				      .placement =
					      i & 2 ? SENNIT_PLACEMENT_SPREAD
						    : 0));

		assert_int_equal(sennit_thread_bind(s), 0);
		in_a_task(compute, NULL);
		sennit_thread_unbind();
		end_scheduler(s);
	}
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

/* --- the other half of fork_across.c -------------------------------------- */

SENNIT_FORK_DEFINE(void, visit, atomic_uint *, visited)
{
	atomic_fetch_add(visited, 1);
}

SENNIT_FORK_DEFINE(unsigned, climb_there, unsigned, n, atomic_uint *, visited)
{
	unsigned one, two;

	SENNIT_FORK_CALL(visit, visited);
	if (n < 2)
		return 1;
	SENNIT_FORK_SPAWN(climb_here, other, n - 2, visited);
	sennit_yield();
	one = SENNIT_FORK_CALL(climb_there, n - 1, visited);
	two = SENNIT_FORK_SYNC(climb_here, other);
	return one + two;
}
