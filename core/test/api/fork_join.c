/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.c - functions whose calls are spawned: results, arguments, order,
 * waits. fork_join_turns.c has what happens around them. */
#include "fork_fib.h"

TEST_WITH_WORKERS(results_come_back)
{
	everywhere(compute);
}

/* --- parameters ----------------------------------------------------------- */

SENNIT_FORK(double, sum2, double, a, short, b)
{
	(void)sennit_me_;
	return a + b;
}

SENNIT_FORK(long, sum3, long, a, char, b, int, c)
{
	(void)sennit_me_;
	return a + b + c;
}

SENNIT_FORK(unsigned, sum4, unsigned, a, unsigned, b, unsigned, c, unsigned, d)
{
	(void)sennit_me_;
	return a + 10 * b + 100 * c + 1000 * d;
}

SENNIT_FORK(int, sum8, int, a, char, b, short, c, long, d, unsigned char, e,
	    const int *, f, int, g, int, h)
{
	return a + 2 * b + 3 * c + 4 * (int)d + 5 * e + 6 * *f + 7 * g + 8 * h;
}

SENNIT_FORK(int, all_arities, int, unused)
{
	static const int six = 6;

	SENNIT_FORK_SPAWN(sum8, eight, 1, 2, 3, 4, 5, &six, 7, 8);
	SENNIT_FORK_SPAWN(sum2, two, 1.5, 2);
	SENNIT_FORK_SPAWN(sum3, three, 1, 2, 3);
	SENNIT_FORK_SPAWN(sum4, four, 1, 2, 3, 4);

	EXPECT(SENNIT_FORK_SYNC(sum4, four) == 4321);
	EXPECT(SENNIT_FORK_SYNC(sum3, three) == 6);
	EXPECT(SENNIT_FORK_SYNC(sum2, two) > 3.4);
	EXPECT(SENNIT_FORK_SYNC(sum8, eight) == 204);
	EXPECT(SENNIT_FORK_CALL(sum8, 0, 0, 0, 0, 0, &six, 0, 1) == 44);
	return unused;
}

static void pass_all(void *unused)
{
	EXPECT(SENNIT_FORK_RUN(all_arities, 7) == 7);
}

TEST_WITH_WORKERS(arguments_of_any_type_and_number_arrive)
{
	everywhere(pass_all);
}

/* --- no result, and declared before -------------------------------------- */

/* Each leaf writes its own place; the halves are two functions that call each
 * other. */
SENNIT_FORK_DECLARE(static, void, mark_right, unsigned *, at, unsigned, n);

SENNIT_FORK(void, mark_left, unsigned *, at, unsigned, n)
{
	if (n == 1) {
		*at += 1;
		return;
	}
	SENNIT_FORK_SPAWN(mark_right, right, at + n / 2, n - n / 2);
	SENNIT_FORK_CALL(mark_left, at, n / 2);
	SENNIT_FORK_SYNC(mark_right, right);
}

SENNIT_FORK_DEFINE(void, mark_right, unsigned *, at, unsigned, n)
{
	if (n == 1) {
		*at += 1;
		return;
	}
	SENNIT_FORK_SPAWN(mark_left, left, at, n / 2);
	sennit_yield();
	SENNIT_FORK_CALL(mark_right, at + n / 2, n - n / 2);
	SENNIT_FORK_SYNC(mark_left, left);
}

static void mark_all(void *unused)
{
	unsigned marks[300] = { 0 };

	SENNIT_FORK_RUN(mark_left, marks, 300);
	for (int i = 0; i < 300; i++)
		EXPECT(marks[i] == 1);
}

TEST_WITH_WORKERS(functions_without_a_result_call_each_other)
{
	everywhere(mark_all);
}

/* --- order ---------------------------------------------------------------- */

SENNIT_FORK(unsigned, oldest_first, unsigned, n)
{
	unsigned a, b, c;

	if (n < 3)
		return 1;
	SENNIT_FORK_SPAWN(oldest_first, one, n - 1);
	SENNIT_FORK_SPAWN(oldest_first, two, n - 2);
	SENNIT_FORK_SPAWN(oldest_first, three, n - 3);
	a = SENNIT_FORK_SYNC(oldest_first, one);
	c = SENNIT_FORK_SYNC(oldest_first, three);
	b = SENNIT_FORK_SYNC(oldest_first, two);
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
	EXPECT(SENNIT_FORK_RUN(oldest_first, 9) == tribonacci(9));
}

TEST_WITH_WORKERS(any_order_of_joining_works)
{
	everywhere(join_in_any_order);
}

/* --- records -------------------------------------------------------------- */

SENNIT_FORK(unsigned, count_leaves, unsigned, height, unsigned, width)
{
	SENNIT_FORK_RECORD(count_leaves) children[5];
	unsigned leaves = 0;

	if (!height)
		return 1;
	for (unsigned i = 0; i < width; i++)
		SENNIT_FORK_SPAWN_TO(count_leaves, children[i], height - 1,
				     i + 1);
	for (unsigned i = width; i-- > 0;)
		leaves += SENNIT_FORK_SYNC(count_leaves, children[i]);
	/* Reuse of the first records. */
	for (unsigned i = 0; i < 3; i++) {
		SENNIT_FORK_SPAWN_TO(count_leaves, children[0], 0, i);
		leaves += SENNIT_FORK_SYNC(count_leaves, children[0]);
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
	EXPECT(SENNIT_FORK_RUN(count_leaves, 6, 5) == leaves_of(6, 5));
}

TEST_WITH_WORKERS(records_may_be_many_and_used_again)
{
	everywhere(fill_records);
}

/* --- waits ---------------------------------------------------------------- */

static sennit_event here_first, there_first;

SENNIT_FORK(int, meet_the_caller, int, n)
{
	(void)sennit_me_;
	sennit_event_set(&there_first);
	EXPECT(!sennit_event_wait(&here_first));
	return n;
}

SENNIT_FORK(int, call_and_meet, int, n)
{
	int result;

	SENNIT_FORK_SPAWN(meet_the_caller, other, n);
	/* No one joins it here, so it must run on another stack. */
	EXPECT(!sennit_event_wait(&there_first));
	sennit_event_set(&here_first);
	result = SENNIT_FORK_SYNC(meet_the_caller, other);
	return result;
}

static void meet(void *unused)
{
	sennit_event_init(&here_first, SENNIT_EVENT_MANUAL);
	sennit_event_init(&there_first, SENNIT_EVENT_MANUAL);
	EXPECT(SENNIT_FORK_RUN(call_and_meet, 5) == 5);
}

TEST_WITH_WORKERS(a_call_and_its_caller_may_wait_for_each_other)
{
	everywhere(meet);
}

static sennit_event begun, may_end;
static atomic_int   runs;

SENNIT_FORK(int, begin_and_wait, int, n)
{
	atomic_fetch_add(&runs, 1);
	sennit_event_set(&begun);
	EXPECT(!sennit_event_wait(&may_end));
	return n;
}

static void let_it_end(void *unused)
{
	sennit_event_set(&may_end);
}

/* A scheduled task lies on the deque where the call lay. */
SENNIT_FORK(int, join_what_has_begun, int, n)
{
	SENNIT_FORK_SPAWN(begin_and_wait, other, n);
	EXPECT(!sennit_event_wait(&begun));
	must_schedule(let_it_end, NULL);
	return SENNIT_FORK_SYNC(begin_and_wait, other);
}

static void begin_once(void *unused)
{
	sennit_event_init(&begun, SENNIT_EVENT_MANUAL);
	sennit_event_init(&may_end, SENNIT_EVENT_MANUAL);
	atomic_store(&runs, 0);
	EXPECT(SENNIT_FORK_RUN(join_what_has_begun, 6) == 6);
	EXPECT(atomic_load(&runs) == 1);
}

TEST_WITH_WORKERS(a_call_that_has_begun_is_waited_for)
{
	everywhere(begin_once);
}

SENNIT_FORK(unsigned, sleepy, unsigned, n, unsigned, seed)
{
	unsigned one, other;

	if (seed % 7 == 0)
		sennit_yield();
	if (seed % 31 == 0)
		sennit_sleep(seed % 1000);
	if (n < 2)
		return n;
	SENNIT_FORK_SPAWN(sleepy, child, n - 1, seed * 1103515245 + 12345);
	one = SENNIT_FORK_CALL(sleepy, n - 2, seed * 69069 + 1);
	other = SENNIT_FORK_SYNC(sleepy, child);
	return one + other;
}

static void compute_sleepily(void *unused)
{
	EXPECT(SENNIT_FORK_RUN(sleepy, 12, 17) == 144);
}

TEST_WITH_WORKERS(calls_may_sleep)
{
	everywhere(compute_sleepily);
}

/* --- where the macros must not push themselves --------------------------- */

static void expect_no_room(void *unused)
{
	EXPECT(!macros_have_room());
}

static void no_task_has_room(const sennit_config *config)
{
	const sennit_task task = { .run = expect_no_room };
	sennit_scheduler *s = start_with(config);

	assert_int_equal(sennit_schedule_task_on(s, &task), 0);
	end_scheduler(s);
}

TEST_WITH_THREAD_COUNTS(the_macros_leave_other_orders_to_the_library)
{
	no_task_has_room(SENNIT_CONFIG(.workers = w->workers,
				       .order = SENNIT_ORDER_OLDEST));
	no_task_has_room(SENNIT_CONFIG(.workers = w->workers,
				       .placement = SENNIT_PLACEMENT_SPREAD));
}

TEST_WITH_WORKERS(the_macros_leave_bound_threads_to_the_library)
{
	assert_false(macros_have_room());
}
