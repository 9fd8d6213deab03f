/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.c - functions whose calls are spawned: results, order, waits,
 * stealing, depth, cancels, and turns of other fibers. */
#include "with_workers.h"

#include "sennit/fork_join.h"

#include <errno.h>

SENNIT_FORK_1(unsigned, fib, unsigned, n)
{
	unsigned one, other;

	if (n < 2)
		return n;
	SENNIT_SPAWN(fib, child, n - 1);
	one = SENNIT_CALL(fib, n - 2);
	other = SENNIT_SYNC(fib, child);
	return one + other;
}

static void compute(void *unused)
{
	(void)unused;
	EXPECT(SENNIT_RUN(fib, 0) == 0);
	EXPECT(SENNIT_RUN(fib, 1) == 1);
	EXPECT(SENNIT_RUN(fib, LOAD(2000) > 200 ? 22 : 14) ==
	       (LOAD(2000) > 200 ? 17711 : 377));
}

/* Run it in a task, and on the bound thread. */
static void everywhere(sennit_task_fn *run)
{
	in_a_task(run, NULL);
	run(NULL);
}

static void results_come_back(void **state)
{
	(void)state;
	everywhere(compute);
}

/* --- parameters ----------------------------------------------------------- */

SENNIT_FORK_2(double, sum2, double, a, short, b)
{
	(void)sennit_me_;
	return a + b;
}

SENNIT_FORK_3(long, sum3, long, a, char, b, int, c)
{
	(void)sennit_me_;
	return a + b + c;
}

SENNIT_FORK_4(unsigned, sum4, unsigned, a, unsigned, b, unsigned, c, unsigned,
	      d)
{
	(void)sennit_me_;
	return a + 10 * b + 100 * c + 1000 * d;
}

SENNIT_FORK_1(int, all_arities, int, unused)
{
	SENNIT_SPAWN(sum2, two, 1.5, 2);
	SENNIT_SPAWN(sum3, three, 1, 2, 3);
	SENNIT_SPAWN(sum4, four, 1, 2, 3, 4);

	EXPECT(SENNIT_SYNC(sum4, four) == 4321);
	EXPECT(SENNIT_SYNC(sum3, three) == 6);
	EXPECT(SENNIT_SYNC(sum2, two) > 3.4);
	return unused;
}

static void pass_all(void *unused)
{
	(void)unused;
	EXPECT(SENNIT_RUN(all_arities, 7) == 7);
}

static void arguments_of_any_type_and_number_arrive(void **state)
{
	(void)state;
	everywhere(pass_all);
}

/* --- order ---------------------------------------------------------------- */

SENNIT_FORK_1(unsigned, oldest_first, unsigned, n)
{
	unsigned a, b, c;

	if (n < 3)
		return 1;
	SENNIT_SPAWN(oldest_first, one, n - 1);
	SENNIT_SPAWN(oldest_first, two, n - 2);
	SENNIT_SPAWN(oldest_first, three, n - 3);
	a = SENNIT_SYNC(oldest_first, one);
	c = SENNIT_SYNC(oldest_first, three);
	b = SENNIT_SYNC(oldest_first, two);
	return a + b + c;
}

static unsigned tribonacci(unsigned n)
{
	return n < 3 ? 1
		     : tribonacci(n - 1) + tribonacci(n - 2) +
			       tribonacci(n - 3);
}

static void join_in_any_order(void *unused)
{
	(void)unused;
	EXPECT(SENNIT_RUN(oldest_first, 9) == tribonacci(9));
}

static void any_order_of_joining_works(void **state)
{
	(void)state;
	everywhere(join_in_any_order);
}

/* --- records -------------------------------------------------------------- */

SENNIT_FORK_2(unsigned, count_leaves, unsigned, height, unsigned, width)
{
	SENNIT_RECORD(count_leaves) children[5];
	unsigned leaves = 0;

	if (!height)
		return 1;
	for (unsigned i = 0; i < width; i++)
		SENNIT_SPAWN_TO(count_leaves, children[i], height - 1, i + 1);
	for (unsigned i = width; i-- > 0;)
		leaves += SENNIT_SYNC(count_leaves, children[i]);
	/* Reuse of the first records. */
	for (unsigned i = 0; i < 3; i++) {
		SENNIT_SPAWN_TO(count_leaves, children[0], 0, i);
		leaves += SENNIT_SYNC(count_leaves, children[0]);
	}
	return leaves;
}

static unsigned leaves_of(unsigned height, unsigned width)
{
	unsigned leaves = 3;

	if (!height)
		return 1;
	for (unsigned i = 0; i < width; i++)
		leaves += leaves_of(height - 1, i + 1);
	return leaves;
}

static void fill_records(void *unused)
{
	(void)unused;
	EXPECT(SENNIT_RUN(count_leaves, 6, 5) == leaves_of(6, 5));
}

static void records_may_be_many_and_used_again(void **state)
{
	(void)state;
	everywhere(fill_records);
}

/* --- waits ---------------------------------------------------------------- */

static sennit_event here_first, there_first;

SENNIT_FORK_1(int, meet_the_caller, int, n)
{
	(void)sennit_me_;
	sennit_event_set(&there_first);
	sennit_event_wait(&here_first);
	return n;
}

SENNIT_FORK_1(int, call_and_meet, int, n)
{
	int result;

	SENNIT_SPAWN(meet_the_caller, other, n);
	/* No one joins it here, so it must run on another stack. */
	sennit_event_wait(&there_first);
	sennit_event_set(&here_first);
	result = SENNIT_SYNC(meet_the_caller, other);
	return result;
}

static void meet(void *unused)
{
	(void)unused;
	sennit_event_init(&here_first, SENNIT_EVENT_MANUAL, false);
	sennit_event_init(&there_first, SENNIT_EVENT_MANUAL, false);
	EXPECT(SENNIT_RUN(call_and_meet, 5) == 5);
}

static void a_call_and_its_caller_may_wait_for_each_other(void **state)
{
	(void)state;
	everywhere(meet);
}

static sennit_event begun, may_end;
static atomic_int   runs;

SENNIT_FORK_1(int, begin_and_wait, int, n)
{
	atomic_fetch_add(&runs, 1);
	sennit_event_set(&begun);
	sennit_event_wait(&may_end);
	return n;
}

static void let_it_end(void *unused)
{
	(void)unused;
	sennit_event_set(&may_end);
}

/* A scheduled task lies on the deque where the call lay. */
SENNIT_FORK_1(int, join_what_has_begun, int, n)
{
	SENNIT_SPAWN(begin_and_wait, other, n);
	sennit_event_wait(&begun);
	must_schedule(let_it_end, NULL);
	return SENNIT_SYNC(begin_and_wait, other);
}

static void begin_once(void *unused)
{
	(void)unused;
	sennit_event_init(&begun, SENNIT_EVENT_MANUAL, false);
	sennit_event_init(&may_end, SENNIT_EVENT_MANUAL, false);
	atomic_store(&runs, 0);
	EXPECT(SENNIT_RUN(join_what_has_begun, 6) == 6);
	EXPECT(atomic_load(&runs) == 1);
}

static void a_call_that_has_begun_is_waited_for(void **state)
{
	(void)state;
	everywhere(begin_once);
}

SENNIT_FORK_2(unsigned, sleepy, unsigned, n, unsigned, seed)
{
	unsigned one, other;

	if (seed % 7 == 0)
		sennit_yield();
	if (seed % 31 == 0)
		sennit_sleep(seed % 1000);
	if (n < 2)
		return n;
	SENNIT_SPAWN(sleepy, child, n - 1, seed * 1103515245 + 12345);
	one = SENNIT_CALL(sleepy, n - 2, seed * 69069 + 1);
	other = SENNIT_SYNC(sleepy, child);
	return one + other;
}

static void compute_sleepily(void *unused)
{
	(void)unused;
	EXPECT(SENNIT_RUN(sleepy, 12, 17) == 144);
}

static void calls_may_sleep(void **state)
{
	(void)state;
	everywhere(compute_sleepily);
}

/* --- depth ---------------------------------------------------------------- */

SENNIT_FORK_1(unsigned, descend, unsigned, depth)
{
	volatile char frame[256];
	unsigned      below;

	frame[depth % 256] = 1;
	if (!depth)
		return 0;
	SENNIT_SPAWN(descend, child, depth - 1);
	below = SENNIT_SYNC(descend, child);
	return below + (unsigned)frame[depth % 256];
}

static void go_deep(void *unused)
{
	(void)unused;
	EXPECT(SENNIT_RUN(descend, LOAD(3000)) == LOAD(3000));
}

static void deep_recursion_goes_on_on_other_stacks(void **state)
{
	(void)state;
	in_a_task(go_deep, NULL);
}

/* --- turns of other tasks and fibers -------------------------------------- */

static atomic_bool flag;

static void raise_flag(void *unused)
{
	(void)unused;
	atomic_store(&flag, true);
}

SENNIT_FORK_1(int, nothing, int, n)
{
	(void)sennit_me_;
	return n;
}

SENNIT_FORK_1(int, join_until_raised, int, give_up)
{
	sennit_time end = sennit_after(GIVE_UP);
	int         n = 0;

	while (!atomic_load(&flag) && sennit_now() < end) {
		SENNIT_SPAWN(nothing, child, give_up);
		n = SENNIT_SYNC(nothing, child);
	}
	return n;
}

static void join_beside_a_fiber(void *unused)
{
	const sennit_task t = { .run = raise_flag,
				.flags = SENNIT_TASK_SAME_THREAD };

	(void)unused;
	atomic_store(&flag, false);
	EXPECT(!sennit_schedule_task(&t));
	EXPECT(SENNIT_RUN(join_until_raised, 1) == 1);
	EXPECT(atomic_load(&flag));
}

static void others_have_their_turn_though_joins_go_on(void **state)
{
	(void)state;
	in_a_task(join_beside_a_fiber, NULL);
}

/* --- cancelling ----------------------------------------------------------- */

SENNIT_FORK_1(int, wait_for_ever, int, unused)
{
	(void)sennit_me_;
	(void)unused;
	return sennit_sleep_until(SENNIT_NEVER);
}

SENNIT_FORK_1(int, wait_in_two, int, unused)
{
	int one, other;

	SENNIT_SPAWN(wait_for_ever, child, unused);
	one = SENNIT_CALL(wait_for_ever, unused);
	other = SENNIT_SYNC(wait_for_ever, child);
	EXPECT(one == -ECANCELED && other == -ECANCELED);
	return one;
}

static int fork_in_a_group(void *unused)
{
	(void)unused;
	return SENNIT_RUN(wait_in_two, 0);
}

static void cancel_forks(void *unused)
{
	sennit_group g;

	(void)unused;
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (int i = 0; i < 4; i++)
		EXPECT(!sennit_group_spawn(&g, fork_in_a_group, NULL));
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

static void cancelling_reaches_calls_wherever_they_run(void **state)
{
	(void)state;
	everywhere(cancel_forks);
}

/* --- many at the same time ------------------------------------------------ */

static void run_fib(void *done)
{
	EXPECT(SENNIT_RUN(fib, 12) == 144);
	sennit_wait_group_done(done);
}

static void many_trees_grow_at_once(void **state)
{
	static sennit_wait_group done;

	(void)state;
	sennit_wait_group_init(&done, 50);
	for (unsigned i = 0; i < 50; i++)
		must_schedule(run_fib, &done);
	sennit_wait_group_wait(&done);
}

static void workers_may_come_and_go(void **state)
{
	static sennit_wait_group done;
	const struct world      *w = *state;
	sennit_scheduler        *s = start_with(
		       SENNIT_CONFIG(.workers = w->workers, .max_workers = 8));

	sennit_unbind();
	assert_int_equal(sennit_bind(s), 0);
	sennit_wait_group_init(&done, 60);
	for (unsigned i = 0; i < 60; i++) {
		must_schedule(run_fib, &done);
		assert_int_equal(sennit_scheduler_set_workers(s, 1 + i % 8), 0);
	}
	sennit_wait_group_wait(&done);
	sennit_unbind();
	end_scheduler(s);
	assert_int_equal(sennit_bind(w->s), 0);
}

static void other_orders_and_placements_work(void **state)
{
	const struct world *w = *state;

	sennit_unbind();
	for (uint32_t i = 0; i < 4; i++) {
		sennit_scheduler *s = start_with(
			SENNIT_CONFIG(.workers = w->workers,
				      .order = i & 1 ? SENNIT_ORDER_OLDEST
						     : SENNIT_ORDER_DEFAULT,
				      .placement =
					      i & 2 ? SENNIT_PLACEMENT_SPREAD
						    : 0));

		assert_int_equal(sennit_bind(s), 0);
		in_a_task(compute, NULL);
		sennit_unbind();
		end_scheduler(s);
	}
	assert_int_equal(sennit_bind(w->s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(results_come_back),
		WITH_WORKERS(arguments_of_any_type_and_number_arrive),
		WITH_WORKERS(any_order_of_joining_works),
		WITH_WORKERS(records_may_be_many_and_used_again),
		WITH_WORKERS(a_call_and_its_caller_may_wait_for_each_other),
		WITH_WORKERS(a_call_that_has_begun_is_waited_for),
		WITH_WORKERS(calls_may_sleep),
		WITH_WORKERS(deep_recursion_goes_on_on_other_stacks),
		WITH_WORKERS(others_have_their_turn_though_joins_go_on),
		WITH_WORKERS(cancelling_reaches_calls_wherever_they_run),
		WITH_WORKERS(many_trees_grow_at_once),
		WITH_THREADS(workers_may_come_and_go),
		WITH_WORKERS(other_orders_and_placements_work),
	};

	return cmocka_run_group_tests_name("api/fork_join", tests, NULL, NULL);
}
