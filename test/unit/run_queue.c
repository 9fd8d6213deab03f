/* SPDX-License-Identifier: Apache-2.0 */
/* run_queue.c - the order of a worker's own tasks and fibers, and when upkeep
 * is due. */
#include "worker/run_queue.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void nothing(void *argument)
{
	(void)argument;
}

static struct task number(uintptr_t n)
{
	return (struct task){ nothing, (void *)n, TASK_BORROWED };
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
	assert_int_equal(sn_ring_push_back(sn_run_queue_pinned(q), number(n)),
			 0);
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

static void newest_own_task_goes_first(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });

	(void)state;
	keep(q, 1);
	keep(q, 2);
	assert_true(sn_run_queue_wants_newest(q));
	assert_int_equal(take(q), 2);
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 0);
	drop(q);
}

static void oldest_goes_first_where_that_is_the_order(void **state)
{
	struct run_queue *q = make(&(struct run_queue_kind){
		.threaded = true, .oldest_first = true });

	(void)state;
	keep(q, 1);
	keep(q, 2);
	assert_false(sn_run_queue_wants_newest(q));
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 2);
	drop(q);
}

/* Two tasks of each kind. The count of dispatches decides the turn. */
static void pinned_tasks_and_others_take_turns(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	uintptr_t pinned = 0;

	(void)state;
	pin(q, 11);
	pin(q, 12);
	keep(q, 1);
	keep(q, 2);
	assert_true(sn_run_queue_has_own(q));
	for (int i = 0; i < 2; i++) {
		pinned += take(q) > 10;
		sn_run_queue_tick(q);
	}
	assert_int_equal(pinned, 1);
	while (take(q))
		sn_run_queue_tick(q);
	assert_false(sn_run_queue_has_task(q));
	drop(q);
}

static void bound_thread_keeps_its_tasks(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .oldest_first = true });

	(void)state;
	keep(q, 1);
	keep(q, 2);
	assert_true(sn_run_queue_has_pinned(q));
	assert_false(sn_run_queue_pushes(q));
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 2);
	drop(q);
}

static void draining_queue_offers_no_fast_path(void **state)
{
	struct run_queue *q = make(&(struct run_queue_kind){
		.threaded = true, .asymmetric = true });

	(void)state;
	assert_true(sn_run_queue_pushes(q) && sn_run_queue_pops(q));
	assert_true(sn_deque_has_room(sn_run_queue_deque(q)));
	keep(q, 1);
	sn_run_queue_drain(q, true);
	assert_true(sn_run_queue_is_draining(q));
	assert_false(sn_run_queue_pushes(q) || sn_run_queue_pops(q));
	assert_false(sn_deque_has_room(sn_run_queue_deque(q)));
	assert_int_equal(take(q), 1);
	sn_run_queue_drain(q, false);
	assert_true(sn_run_queue_pushes(q) && sn_run_queue_pops(q));
	drop(q);
}

static void upkeep_is_due_every_so_many_dispatches(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	uint32_t ticks = 1;

	(void)state;
	while (!sn_run_queue_tick(q))
		ticks++;
	assert_int_equal(ticks, WORKER_UPKEEP);
	sn_run_queue_due_in(q, 1);
	assert_true(sn_run_queue_is_due(q));
	assert_true(sn_run_queue_tick(q));
	drop(q);
}

/* The number of turns up to the turn of the oldest task. */
static uint32_t turns(struct run_queue *q)
{
	uint32_t n = 1;

	while (!sn_run_queue_turn(q))
		n++;
	return n;
}

static void oldest_has_its_turn_every_so_many_upkeeps(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	struct task t;

	(void)state;
	keep(q, 1);
	keep(q, 2);
	assert_int_equal(turns(q), WORKER_OLDEST);
	assert_int_equal(turns(q), WORKER_OLDEST);
	assert_true(sn_run_queue_take_oldest(q, &t));
	assert_int_equal((uintptr_t)t.argument, 1);
	drop(q);
}

static void loot_runs_oldest_first(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	const struct task loot[] = { number(1), number(2) };

	(void)state;
	sn_run_queue_keep_loot(q, loot, 2);
	assert_int_equal(take(q), 1);
	assert_int_equal(take(q), 2);
	drop(q);
}

static void fibers_are_taken_in_the_order_they_became_ready(void **state)
{
	struct run_queue *q =
		make(&(struct run_queue_kind){ .threaded = true });
	static struct sennit_fiber f[3];

	(void)state;
	sn_run_queue_ready(q, &f[0]);
	f[1].link.next = &f[2].link;
	sn_run_queue_ready_all(q, &f[1].link, &f[2].link);
	assert_false(sn_run_queue_wants_newest(q));
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(sn_run_queue_take_ready(q), &f[i]);
	assert_null(sn_run_queue_take_ready(q));
	drop(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_own_task_goes_first),
		cmocka_unit_test(oldest_goes_first_where_that_is_the_order),
		cmocka_unit_test(pinned_tasks_and_others_take_turns),
		cmocka_unit_test(bound_thread_keeps_its_tasks),
		cmocka_unit_test(draining_queue_offers_no_fast_path),
		cmocka_unit_test(upkeep_is_due_every_so_many_dispatches),
		cmocka_unit_test(oldest_has_its_turn_every_so_many_upkeeps),
		cmocka_unit_test(loot_runs_oldest_first),
		cmocka_unit_test(
			fibers_are_taken_in_the_order_they_became_ready),
	};

	return cmocka_run_group_tests_name("run_queue", tests, NULL, NULL);
}
