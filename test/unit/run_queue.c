/* SPDX-License-Identifier: Apache-2.0 */
/* run_queue.c - the order of a worker's own tasks and fibers, when the oldest
 * task has its turn, and when upkeep is due. */
#include "sched/run_queue.h"

#include "base/memory.h"

#include "../test.h"
#include <time.h>

/* The library's clock is the test's. */
static sennit_time time_now = SENNIT_SECOND;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(time_now / SENNIT_SECOND);
	t->tv_nsec = (long)(time_now % SENNIT_SECOND);
	return 0;
}

static void nothing(void *argument)
{
	(void)argument;
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
	assert_int_equal(sn_ring_push_back(&q->pinned, number(n)), 0);
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
	uint32_t ticks = 1;

	while (--q->dispatches)
		ticks++;
	assert_int_equal(ticks, WORKER_UPKEEP);
	q->dispatches = 1;
	assert_true(q->dispatches == 1);
	assert_true(!--q->dispatches);
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
	assert_false(q->aged);
	time_now += AGED - 1;
	sn_run_queue_check_age(q, time_now);
	assert_false(q->aged);
	time_now++;
	sn_run_queue_check_age(q, time_now);
	assert_true(q->aged);
	assert_false(sn_run_queue_wants_newest(q) || q->pops);
}

/* The next dispatch of a worker that was taking old tasks. */
static uintptr_t take_next(struct run_queue *q)
{
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
		assert_false(q->aged);
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
	time_now += AGED / 2;
	assert_int_equal(take_next(q), 3);
	drop(q);
}

TEST(a_turn_has_so_many_aged_tasks)
{
	struct run_queue *q = make(&mtw);

	for (uintptr_t i = 1; i <= AGED_TASKS + 2; i++)
		keep(q, i);
	let_age(q);
	for (uintptr_t i = 1; i <= AGED_TASKS; i++)
		assert_int_equal(take_next(q), i);
	assert_int_equal(take_next(q), AGED_TASKS + 2);
	drop(q);
}

/* All that are older than the rest get their turns, one for each AGED. */
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
	const uint32_t    step = AGED / 10;

	keep(q, 4);
	for (int i = 0; i <= 10; i++) {
		assert_false(q->aged);
		while (sn_deque_publish(sn_run_queue_deque(q)) < 4)
			;
		assert_int_equal(take(q), 4);
		keep(q, 4);
		sn_run_queue_check_age(q, time_now);
		time_now += step;
	}
	assert_true(q->aged);
	assert_int_not_equal(take(q), 4);
	drop(q);
}

TEST(nothing_ages_in_a_queue_that_gets_empty)
{
	struct run_queue *q = make(&mtw);

	for (int i = 0; i < 10; i++) {
		keep(q, 1);
		sn_run_queue_check_age(q, time_now);
		assert_false(q->aged);
		assert_int_equal(take(q), 1);
		sn_run_queue_check_age(q, time_now);
		time_now += AGED / 2;
	}
	drop(q);
}

TEST(nothing_ages_where_the_oldest_goes_first)
{
	struct run_queue *q = make_with_three(&(struct run_queue_kind){
		.threaded = true, .oldest_first = true });

	for (int i = 0; i < 3; i++) {
		sn_run_queue_check_age(q, time_now);
		assert_false(q->aged);
		time_now += AGED;
	}
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
		const uint32_t longer = look_after(q, AGED / 32);

		assert_in_range(longer, interval, 2 * interval);
		interval = longer;
	}
	assert_in_range(look_after(q, AGED), 1, WORKER_UPKEEP / 4);
	assert_int_equal(look_after(q, 61 * AGED), 1);
	drop(q);
}

/* One long task among many short ones. */
TEST(short_dispatches_make_upkeep_rarer_only_with_time)
{
	struct run_queue *q = make(&mtw);

	look_after(q, 0);
	assert_int_equal(look_after(q, 61 * AGED), 1);
	for (int i = 0; i < 64; i++)
		assert_int_equal(look_after(q, 10), 1);
	look_after(q, AGED / 32);
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
		assert_int_equal(look_after(q, AGED / 25), interval);
		assert_int_equal(take_next(q), i);
	}
	assert_int_equal(take_next(q), 0);
	assert_false(q->aging.calm);
	drop(q);
}

TEST(clock_is_not_read_while_dispatches_are_short)
{
	struct run_queue *q = make(&mtw);
	uint32_t          blind = 0;

	assert_false(sn_run_queue_is_blind(q, time_now));
	while (look_after(q, 10) < WORKER_UPKEEP)
		;
	look_after(q, 10);
	while (sn_run_queue_is_blind(q, time_now))
		blind++;
	assert_int_equal(blind, AGING_BLIND - 1);
	look_after(q, 10);
	assert_false(sn_run_queue_is_blind(q, time_now + 1));
	drop(q);
}

/* However many upkeeps there are. */
TEST(tasks_have_their_turn_after_so_many_dispatches)
{
	struct run_queue *q = make(&mtw);
	uint32_t          ticks = 0;

	while (--q->dispatches)
		;
	assert_true(sn_run_queue_begin_upkeep(q, false));
	look_after(q, 0);
	look_after(q, 61 * AGED);
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
	uint32_t          ticks = 1;

	sn_run_queue_rested(q, time_now, true);
	while (--q->dispatches)
		ticks++;
	assert_int_equal(ticks, AGING_FIRST);
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

enum { CROWD = 3 * JUMP };

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

/* The first one became ready behind nobody. */
TEST(ready_fibers_lead_to_those_behind_them)
{
	struct run_queue *q = make_crowd_ready();

	expect_to_lead(0, 0);
	for (ptrdiff_t i = 1; i < CROWD; i++)
		expect_to_lead(i, i + JUMP < CROWD ? i + JUMP : i);
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

	for (ptrdiff_t i = CROWD - JUMP; i < CROWD; i++)
		sn_jumps_forget(&q->jumps, &crowd[i].fiber);
	for (ptrdiff_t i = 0; i < JUMP; i++)
		sn_jumps_pass(&q->jumps, &crowd[i].fiber);
	for (ptrdiff_t i = CROWD - JUMP; i < CROWD; i++)
		expect_to_lead(i, i);
	drop(q);
}
