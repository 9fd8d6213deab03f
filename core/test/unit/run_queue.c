/* SPDX-License-Identifier: Apache-2.0 */
/* run_queue.c - the order of a worker's own tasks and fibers, when the oldest
 * task has its turn, and when upkeep is due. */
#include "sched/run_queue.h"

#include "base/memory.h"

#include "testing/test.h"
#include <time.h>

/* The library's clock is the test's. */
static sennit_time time_now = SENNIT_SECOND;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	t->tv_sec = (time_t)(time_now / SENNIT_SECOND);
	t->tv_nsec = (long)(time_now % SENNIT_SECOND);
	return 0;
}

static void nothing(void *argument)
{
}

static struct task number(uintptr_t n)
{
	return TASK(nothing, (void *)n, TASK_BORROWED);
}

static uintptr_t take(struct run_queue *q)
{
	struct task t;

	return sn_run_queue_take(q, &t) ? (uintptr_t)t.argument : 0;
}

static void keep(struct run_queue *q, uintptr_t n)
{
	assert_int_equal(sn_run_queue_keep(q, number(n)), 0);
}

static void pin(struct run_queue *q, uintptr_t n)
{
	assert_int_equal(sn_task_queue_push_back(&q->pinned, number(n)), 0);
}

static struct run_queue *make(const struct run_queue_kind *kind)
{
	struct run_queue *q = sn_memory_take(&sn_memory_libc, sizeof(*q),
					     _Alignof(struct run_queue));

	assert_non_null(q);
	assert_int_equal(sn_run_queue_init(q, kind, &sn_memory_libc), 0);
	return q;
}

static void drop(struct run_queue *q)
{
	sn_run_queue_free(q);
	sn_memory_give(&sn_memory_libc, q, sizeof(*q));
}

TEST(newest_own_task_goes_first)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });

	keep(q, 1);
	keep(q, 2);
	assert_true(sn_run_queue_wants_newest(q));
	assert_int_equal(take(q), 2);
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 0);
	drop(q);
}

TEST(oldest_goes_first_where_that_is_the_order)
{
	struct run_queue *q = make(&(struct run_queue_kind){
		.threaded = true, .oldest_first = true });

	keep(q, 1);
	keep(q, 2);
	assert_false(sn_run_queue_wants_newest(q));
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 2);
	drop(q);
}

/* Two tasks of each kind. The count of dispatches decides the turn. */
TEST(pinned_tasks_and_others_take_turns)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	uintptr_t pinned = 0;

	pin(q, 11);
	pin(q, 12);
	keep(q, 1);
	keep(q, 2);
	assert_true(sn_run_queue_has_own(q));
	for (int i = 0; i < 2; i++) {
		pinned += take(q) > 10;
		--q->dispatches;
	}
	assert_int_equal(pinned, 1);
	while (take(q))
		--q->dispatches;
	assert_false(sn_run_queue_has_task(q));
	drop(q);
}

TEST(bound_thread_keeps_its_tasks)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .oldest_first = true });

	keep(q, 1);
	keep(q, 2);
	assert_true(sn_run_queue_has_pinned(q));
	assert_false(q->pushes);
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 2);
	drop(q);
}

TEST(draining_queue_offers_no_fast_path)
{
	struct run_queue *q = make(&(struct run_queue_kind){
		.threaded = true, .asymmetric = true });

	assert_true(q->pushes && q->pops);
	assert_true(sn_deque_has_room(sn_run_queue_deque(q)));
	keep(q, 1);
	sn_run_queue_drain(q, true);
	assert_true(q->draining);
	assert_false(q->pushes || q->pops);
	assert_false(sn_deque_has_room(sn_run_queue_deque(q)));
	assert_int_equal(take(q), 1);
	sn_run_queue_drain(q, false);
	assert_true(q->pushes && q->pops);
	drop(q);
}

TEST(upkeep_is_due_every_so_many_dispatches)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });

	assert_int_equal(q->dispatches, AGING_FIRST);
	q->aging.interval = WORKER_UPKEEP;
	assert_false(sn_run_queue_begin_upkeep(q, false));
	assert_int_equal(q->dispatches, WORKER_UPKEEP - AGING_FIRST);
	assert_true(sn_run_queue_begin_upkeep(q, false));
	assert_int_equal(q->dispatches, WORKER_UPKEEP);
	drop(q);
}

/* --- the oldest task's turn --------------------------------------------- */

static struct run_queue *make_with_three(const struct run_queue_kind *kind)
{
	struct run_queue *q = make(kind);

	for (uintptr_t i = 1; i <= 3; i++) {
		if (kind->threaded)
			keep(q, i);
		else
			pin(q, i);
	}
	return q;
}

/* Looks until the oldest task has its turn. */
static void let_age(struct run_queue *q)
{
	sn_run_queue_check_age(q, time_now);
	assert_false(q->oldest_next);
	time_now += MAX_TASK_AGE - 1;
	sn_run_queue_check_age(q, time_now);
	assert_false(q->oldest_next);
	time_now++;
	sn_run_queue_check_age(q, time_now);
	assert_true(q->oldest_next);
	assert_false(sn_run_queue_wants_newest(q) || q->pops);
}

/* The upkeep after a dispatch, and the next one. */
static uintptr_t take_next(struct run_queue *q)
{
	sn_run_queue_check_age(q, time_now);
	(void)sn_run_queue_begin_upkeep(q, false);
	return take(q);
}

static const struct run_queue_kind mtw = { .threaded = true };

TEST(aged_tasks_come_first)
{
	const struct run_queue_kind stw = { .threaded = false };
	struct run_queue           *q;

	for (int i = 0; i < 2; i++) {
		q = make_with_three(i ? &stw : &mtw);
		let_age(q);
		assert_int_equal(take(q), 1);
		assert_int_equal(take_next(q), 2);
		assert_int_equal(take_next(q), 3);
		assert_int_equal(take_next(q), 0);
		assert_false(q->oldest_next);
		assert_int_equal(q->pops, i == 0);
		drop(q);
	}
}

TEST(an_aged_task_that_schedules_ends_the_turn)
{
	struct run_queue *q = make_with_three(&mtw);

	let_age(q);
	assert_int_equal(take(q), 1);
	assert_true(sn_run_queue_wants_newest(q)); /* what it may join */
	keep(q, 4);
	assert_int_equal(take_next(q), 4);
	assert_int_equal(take_next(q), 3);
	assert_int_equal(take_next(q), 2);
	drop(q);
}

TEST(a_turn_of_aged_tasks_ends_in_time)
{
	struct run_queue *q = make_with_three(&mtw);

	let_age(q);
	assert_int_equal(take(q), 1);
	assert_false(sn_run_queue_goes_on(q));
	time_now += MAX_TASK_AGE / 2;
	assert_int_equal(take_next(q), 3);
	drop(q);
}

/* Newer work that takes MAX_TASK_AGE has made the others old again. */
TEST(long_newer_work_does_not_end_a_turn)
{
	struct run_queue *q = make(&mtw);

	for (uintptr_t i = 1; i <= OVERDUE_TASKS; i++)
		keep(q, i);
	let_age(q);
	for (uintptr_t i = 1; i < OVERDUE_TASKS; i++) {
		assert_int_equal(i == 1 ? take(q) : take_next(q), i);
		time_now += 10 * MAX_TASK_AGE;
		assert_false(sn_run_queue_goes_on(q));
		time_now += MAX_TASK_AGE;
	}
	assert_int_equal(take_next(q), OVERDUE_TASKS);
	drop(q);
}

/* Old tasks of `old` ns run after newer work of `newer` ns. Returns their
 * number. */
static unsigned row_after(sennit_time newer, sennit_time old)
{
	struct run_queue *q = make(&mtw);
	unsigned          n = 0;

	for (uintptr_t i = 1; i <= 2 * OVERDUE_TASKS; i++)
		keep(q, i);
	let_age(q);
	(void)take(q);
	assert_false(sn_run_queue_goes_on(q));
	time_now += newer;
	sn_run_queue_check_age(q, time_now);
	assert_true(q->oldest_next);
	do {
		n++;
		assert_int_equal(take_next(q), n + 1);
		time_now += old;
	} while (sn_run_queue_goes_on(q));
	drop(q);
	return n;
}

TEST(old_tasks_run_for_as_long_as_newer_work_before_them)
{
	assert_int_equal(row_after(MAX_TASK_AGE, MAX_TASK_AGE), 1);
	assert_int_equal(row_after(MAX_TASK_AGE, MAX_TASK_AGE / 4), 4);
	assert_int_equal(row_after(MAX_TASK_AGE / 4, MAX_TASK_AGE), 1);
	assert_int_equal(row_after(MAX_TASK_AGE / 4, MAX_TASK_AGE / 40), 10);
	assert_int_equal(row_after(10 * MAX_TASK_AGE, 10), OVERDUE_TASKS - 1);
}

/* Whatever has been scheduled and run meanwhile. */
TEST(an_aged_task_that_schedules_ends_the_row_at_once)
{
	struct run_queue *q = make_with_three(&mtw);

	let_age(q);
	assert_int_equal(take(q), 1);
	keep(q, 4);
	assert_false(sn_run_queue_goes_on(q));
	assert_int_equal(take_next(q), 4);
	assert_int_equal(take_next(q), 3);
	drop(q);
}

/* An old task runs, and then newer work of `newer` ns, which schedules more.
 * Returns what runs next. */
static uintptr_t take_after(sennit_time newer)
{
	struct run_queue *q = make_with_three(&mtw);
	uintptr_t         next;

	let_age(q);
	assert_int_equal(take(q), 1);
	assert_false(sn_run_queue_goes_on(q));
	assert_int_equal(take(q), 3);
	keep(q, 4);
	keep(q, 5);
	time_now += newer;
	next = take_next(q);
	drop(q);
	return next;
}

TEST(newer_work_that_schedules_ends_the_turn_unless_it_takes_long)
{
	assert_int_equal(take_after(MAX_TASK_AGE / 2 - 1), 5);
	assert_int_equal(take_after(MAX_TASK_AGE), 2);
}

TEST(a_turn_has_so_many_aged_tasks)
{
	struct run_queue *q = make(&mtw);

	for (uintptr_t i = 1; i <= OVERDUE_TASKS + 2; i++)
		keep(q, i);
	let_age(q);
	for (uintptr_t i = 1; i <= OVERDUE_TASKS; i++)
		assert_int_equal(take_next(q), i);
	assert_int_equal(take_next(q), OVERDUE_TASKS + 2);
	drop(q);
}

/* All that are older than the rest get their turns, one for each MAX_TASK_AGE.
 * */
TEST(the_next_oldest_ages_from_then_on)
{
	struct run_queue *q = make_with_three(&mtw);

	for (uintptr_t i = 1; i <= 3; i++) {
		let_age(q);
		assert_int_equal(take(q), i);
		keep(q, 4);
		assert_int_equal(take_next(q), 4);
	}
	drop(q);
}

/* Publishing and taking back moves the oldest task, at each dispatch here. */
TEST(tasks_age_while_they_are_published_and_taken_back)
{
	struct run_queue *q = make_with_three(&mtw);
	const uint32_t    step = MAX_TASK_AGE / 10;

	keep(q, 4);
	for (int i = 0; i <= 10; i++) {
		assert_false(q->oldest_next);
		while (sn_deque_publish(sn_run_queue_deque(q)) < 4)
			;
		assert_int_equal(take(q), 4);
		keep(q, 4);
		sn_run_queue_check_age(q, time_now);
		time_now += step;
	}
	assert_true(q->oldest_next);
	assert_int_not_equal(take(q), 4);
	drop(q);
}

TEST(nothing_ages_in_a_queue_that_gets_empty)
{
	struct run_queue *q = make(&mtw);

	for (int i = 0; i < 10; i++) {
		keep(q, 1);
		sn_run_queue_check_age(q, time_now);
		assert_false(q->oldest_next);
		assert_int_equal(take(q), 1);
		sn_run_queue_check_age(q, time_now);
		time_now += MAX_TASK_AGE / 2;
	}
	drop(q);
}

TEST(nothing_ages_where_the_oldest_goes_first)
{
	struct run_queue *q = make_with_three(&(struct run_queue_kind){
		.threaded = true, .oldest_first = true });

	for (int i = 0; i < 3; i++) {
		sn_run_queue_check_age(q, time_now);
		assert_false(q->oldest_next);
		time_now += MAX_TASK_AGE;
	}
	drop(q);
}

/* Fibers that are always ready: one task each time, whatever its kind. */
TEST(tasks_age_behind_fibers_in_any_order)
{
	static const struct run_queue_kind kinds[] = {
		{ .threaded = true },
		{ .threaded = true, .oldest_first = true },
		{ .oldest_first = true },
		{ .threaded = false },
	};
	static struct sennit_fiber f;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct run_queue *q = make(&kinds[i]);

		pin(q, 1);
		pin(q, 2);
		sn_fifo_push(&q->ready, &f.link);
		let_age(q);
		assert_true(sn_run_queue_begin_upkeep(q, false));
		assert_int_equal(take(q), 1);
		assert_int_equal(q->aging.left != 0, !kinds[i].oldest_first);
		assert_false(sn_run_queue_goes_on(q));
		time_now += MAX_TASK_AGE;
		sn_run_queue_check_age(q, time_now);
		assert_true(q->oldest_next);
		assert_int_equal(take(q), 2);
		drop(q);
	}
}

/* In a turn they alternate, as they do otherwise. */
TEST(pinned_and_other_tasks_age_together)
{
	struct run_queue *q = make_with_three(&mtw);
	uintptr_t         pinned = 0;

	pin(q, 11);
	pin(q, 12);
	let_age(q);
	for (int i = 0; i < 4; i++)
		pinned += (i ? take_next(q) : take(q)) > 10;
	assert_int_equal(pinned, 2);
	assert_int_equal(take_next(q), 3);
	drop(q);
}

/* --- how often upkeep is due -------------------------------------------- */

/* Looks as an upkeep does after `spent` ns. Returns the dispatches up to the
 * next one. */
static uint32_t look_after(struct run_queue *q, sennit_time spent)
{
	time_now += spent;
	sn_run_queue_check_age(q, time_now);
	return q->aging.interval;
}

TEST(long_dispatches_have_upkeep_more_often)
{
	struct run_queue *q = make(&mtw);
	uint32_t          interval = look_after(q, 0);

	while (interval < WORKER_UPKEEP) {
		const uint32_t longer = look_after(q, MAX_TASK_AGE / 32);

		assert_in_range(longer, interval, 2 * interval);
		interval = longer;
	}
	assert_in_range(look_after(q, MAX_TASK_AGE), 1, WORKER_UPKEEP / 4);
	assert_int_equal(look_after(q, 61 * MAX_TASK_AGE), 1);
	drop(q);
}

/* One long task among many short ones. */
TEST(short_dispatches_make_upkeep_rarer_only_with_time)
{
	struct run_queue *q = make(&mtw);

	look_after(q, 0);
	assert_int_equal(look_after(q, 61 * MAX_TASK_AGE), 1);
	for (int i = 0; i < 64; i++)
		assert_int_equal(look_after(q, 10), 1);
	look_after(q, MAX_TASK_AGE / 32);
	assert_int_equal(look_after(q, 10), 2);
	assert_int_equal(look_after(q, 10), 4);
	drop(q);
}

/* In a turn of old tasks each upkeep comes after one dispatch. */
TEST(a_turn_tells_nothing_about_dispatches)
{
	struct run_queue *q = make_with_three(&mtw);
	uint32_t          interval;

	let_age(q);
	assert_int_equal(take(q), 1);
	interval = q->aging.interval;
	assert_true(interval < WORKER_UPKEEP / 2);
	for (uintptr_t i = 2; i <= 3; i++) {
		assert_int_equal(look_after(q, MAX_TASK_AGE / 25), interval);
		assert_int_equal(take_next(q), i);
	}
	assert_int_equal(take_next(q), 0);
	assert_false(q->aging.is_short);
	drop(q);
}

TEST(clock_is_not_read_while_dispatches_are_short)
{
	struct run_queue *q = make(&mtw);
	uint32_t          skipped = 0;

	assert_false(sn_run_queue_skips_clock(q, time_now));
	while (look_after(q, 10) < WORKER_UPKEEP)
		;
	look_after(q, 10);
	while (sn_run_queue_skips_clock(q, time_now))
		skipped++;
	assert_int_equal(skipped, AGING_CLOCK_SKIPS - 1);
	look_after(q, 10);
	assert_false(sn_run_queue_skips_clock(q, time_now + 1));
	drop(q);
}

/* However many upkeeps there are. */
TEST(tasks_have_their_turn_after_so_many_dispatches)
{
	struct run_queue *q = make(&mtw);
	uint32_t          ticks = 0;

	look_after(q, 0);
	look_after(q, 61 * MAX_TASK_AGE);
	do
		while (ticks++, --q->dispatches)
			;
	while (!sn_run_queue_begin_upkeep(q, false));
	assert_int_equal(ticks, WORKER_UPKEEP);
	drop(q);
}

TEST(upkeep_comes_soon_after_an_idle_time)
{
	struct run_queue *q = make(&mtw);

	q->aging.interval = WORKER_UPKEEP;
	(void)sn_run_queue_begin_upkeep(q, false);
	sn_run_queue_rested(q, time_now, true);
	assert_int_equal(q->dispatches, AGING_FIRST);
	drop(q);
}

TEST(stolen_tasks_run_oldest_first)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	const struct task stolen[] = { number(1), number(2) };

	sn_run_queue_keep_stolen(q, stolen, 2);
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 2);
	drop(q);
}

TEST(fibers_are_taken_in_the_order_they_became_ready)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	static struct sennit_fiber f[3];

	sn_fifo_push(&q->ready, &f[0].link);
	f[1].link.next = &f[2].link;
	sn_fifo_append(&q->ready, &f[1].link, &f[2].link);
	assert_false(sn_run_queue_wants_newest(q));
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(sn_run_queue_take_ready(q), &f[i]);
	assert_null(sn_run_queue_take_ready(q));
	drop(q);
}

/* --- jumps -------------------------------------------------------------- */

enum { STEP = (int)JUMP, CROWD = 3 * STEP };

static struct {
	_Alignas(CACHE_LINE) struct sennit_fiber fiber;
} crowd[CROWD];

static void expect_to_lead(ptrdiff_t from, ptrdiff_t to)
{
	assert_ptr_equal(sn_jumps_target(&crowd[from].fiber), &crowd[to].fiber);
}

static struct run_queue *make_crowd_ready(void)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });

	for (ptrdiff_t i = 0; i < CROWD; i++) {
		a_store_rlx(&crowd[i].fiber.state.jump, 0);
		sn_run_queue_make_ready(q, &crowd[i].fiber);
	}
	return q;
}

/* The queue was empty when the first one became ready. */
TEST(ready_fibers_lead_to_those_behind_them)
{
	struct run_queue *q = make_crowd_ready();

	expect_to_lead(0, 0);
	for (ptrdiff_t i = 1; i < CROWD; i++)
		expect_to_lead(i, i + STEP < CROWD ? i + STEP : i);
	for (ptrdiff_t i = 0; i < CROWD; i++) {
		assert_ptr_equal(sn_run_queue_take_ready(q), &crowd[i].fiber);
		if (i + 1 < CROWD)
			expect_to_lead(i + 1, i + 1);
	}
	assert_null(sn_run_queue_take_ready(q));
	drop(q);
}

/* A stack that is given away is no longer the worker's to write to. */
TEST(nothing_is_left_with_a_fiber_that_has_gone)
{
	struct run_queue *q = make_crowd_ready();

	for (ptrdiff_t i = CROWD - STEP; i < CROWD; i++)
		sn_jumps_forget(&q->jumps, &crowd[i].fiber);
	for (ptrdiff_t i = 0; i < STEP; i++)
		sn_jumps_pass(&q->jumps, &crowd[i].fiber);
	for (ptrdiff_t i = CROWD - STEP; i < CROWD; i++)
		expect_to_lead(i, i);
	drop(q);
}
