/* SPDX-License-Identifier: Apache-2.0 */
/* task_inbox.c - which worker takes how many tasks from an inbox, and which
 * tasks. */
#include "base/memory.h"
#include "queue/blocks.h"
#include "queue/deque.h"
#include "queue/inbox.h"

#include "testing/test.h"
#include <stdlib.h>

enum { TASKS = 10 };

struct office {
	struct pool       pool;
	struct pool_cache cache;
	struct deque      deque;
	struct inbox      inbox;
};

static void run(void *unused)
{
}

/* Send tasks 0, the oldest, to n - 1. */
static void post(struct office *o, uintptr_t n)
{
	for (uintptr_t i = 0; i < n; i++) {
		struct queued_task *p = sn_pool_take(&o->cache);

		assert_non_null(p);
		p->task = (struct task){ .run = run, .argument = (void *)i };
		sn_task_inbox_push(&o->inbox, &p->node, &p->node);
	}
}

static uint32_t take(struct office *o, uint32_t parts, bool oldest_first)
{
	const struct queued_tasks_to to = { &o->deque, &o->cache,
					    oldest_first };

	return sn_task_inbox_take(&o->inbox, &to, parts);
}

static void assert_next(struct office *o, uintptr_t number, bool oldest_first)
{
	struct task t;

	assert_true(oldest_first ? sn_deque_pop_oldest(&o->deque, &t)
				 : sn_deque_pop(&o->deque, &t));
	assert_int_equal((uintptr_t)t.argument, number);
}

static void take_by_halves(struct office *o, bool oldest_first)
{
	static const uint32_t half[] = { 5, 3, 1, 1, 0 };
	uintptr_t             next = 0;

	post(o, TASKS);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(take(o, 2, oldest_first), half[i]);
		for (uint32_t j = 0; j < half[i]; j++)
			assert_next(o, next++, oldest_first);
	}
	assert_int_equal(next, TASKS);
	assert_true(sn_inbox_is_empty(&o->inbox));
}

static int open_office(void **state)
{
	void          *memory;
	struct office *o;

	if (posix_memalign(&memory, _Alignof(struct office), sizeof(*o)))
		return -1;
	o = memory;
	sn_pool_init(&o->pool, &sn_memory_libc);
	sn_pool_cache_init(&o->cache, &o->pool);
	a_init(&o->inbox.head, NULL);
	*state = o;
	return sn_deque_init(&o->deque, &sn_memory_libc, 2, false);
}

static int close_office(void **state)
{
	struct office *o = *state;

	sn_deque_free(&o->deque);
	sn_pool_cache_drain(&o->cache);
	sn_pool_free(&o->pool);
	free(o);
	return 0;
}

#define TEST_IN_OFFICE(f)                 \
	TEST_ENTRIES(f, struct office *o, \
		     { #f, f##_case, open_office, close_office, NULL })

TEST_IN_OFFICE(a_searcher_takes_the_oldest_share_and_leaves_the_rest)
{
	take_by_halves(o, false);
	take_by_halves(o, true);
}

TEST_IN_OFFICE(of_many_parts_it_takes_one)
{
	post(o, TASKS);
	assert_int_equal(take(o, 4, false), 3);
	assert_int_equal(take(o, 100, false), 1);
	assert_int_equal(take(o, 1, false), 6);
}

TEST_IN_OFFICE(a_long_chain_is_taken_whole)
{
	post(o, PARCELS_SHARED + 1);
	assert_int_equal(take(o, 2, false), PARCELS_SHARED + 1);
	post(o, PARCELS_SHARED);
	assert_int_equal(take(o, 2, false), PARCELS_SHARED / 2);
	assert_int_equal(take(o, 1, false), PARCELS_SHARED / 2);
}

TEST_IN_OFFICE(the_owner_takes_all_and_begins_with_the_oldest)
{
	post(o, TASKS);
	assert_int_equal(take(o, 1, false), TASKS);
	for (uintptr_t i = 0; i < TASKS; i++)
		assert_next(o, i, false);
}
