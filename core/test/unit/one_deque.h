/* SPDX-License-Identifier: Apache-2.0 */
/* one_deque.h - a deque, and tasks that are numbers. */
#ifndef SN_TEST_ONE_DEQUE_H
#define SN_TEST_ONE_DEQUE_H

#include "queue/deque.h"
#include "os/os.h"

#include "scarce.h"

#include "testing/test.h"

static struct scarce memory;
static struct deque  deque;

/* Start shortly before the positions wrap around. */
static inline void start(bool asymmetric)
{
	static const sennit_allocator a = SCARCE(&memory);
	uint32_t                      first = UINT32_MAX - 2;

	memory = (struct scarce){ .left = 100 };
	assert_int_equal(sn_deque_init(&deque, &a, 4, asymmetric), 0);
	a_store_rlx(&deque.bottom, first);
	a_store_rlx(&deque.guard, first);
	a_store_rlx(&deque.pub, (uint64_t)first << 32 | first);
	deque.limit += first;
}

static inline int start_fenced(void **state)
{
	start(false);
	return 0;
}

static inline int finish(void **state)
{
	sn_deque_free(&deque);
	return memory.held ? -1 : 0;
}

/* Where the task n was spawned. */
static inline uintptr_t site_of(uint32_t n)
{
	return (n & TASK_TAG) == TASK_INSIDE ? 0 : (uintptr_t)n << 4;
}

/* A task that has the number n in all words. */
static inline struct task numbered(uint32_t n)
{
	struct task t = TASK((sennit_task_fn *)(uintptr_t)n,
			     (void *)(uintptr_t)~n, n);

#ifdef SENNIT_SPAWN_SITES
	t.site = (const void *)site_of(n);
#endif
	return t;
}

static inline uint32_t number_of(struct task t)
{
	assert_int_equal((uint32_t)(uintptr_t)t.run, t.meta);
	assert_int_equal((uint32_t)(uintptr_t)t.argument, ~(uint32_t)t.meta);
#ifdef SENNIT_SPAWN_SITES
	assert_int_equal((uintptr_t)t.site, site_of((uint32_t)t.meta));
#endif
	return (uint32_t)t.meta;
}

static inline void push(uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n <= to; n++)
		assert_int_equal(sn_deque_push(&deque, numbered(n)), 0);
}

static inline uint32_t pop(void)
{
	struct task t = { 0 };

	assert_true(sn_deque_pop(&deque, &t));
	return number_of(t);
}

static inline void assert_empty(void)
{
	struct task t;

	assert_false(sn_deque_pop(&deque, &t));
	assert_false(sn_deque_pop_oldest(&deque, &t));
	assert_int_equal(sn_deque_steal(&deque, &t, 1), 0);
	assert_false(sn_deque_has_tasks(&deque));
	assert_false(sn_deque_has_public(&deque));
	assert_int_equal(sn_deque_count(&deque), 0);
}

#define TEST_STEP(f) TEST_BETWEEN(f, start_fenced, finish)

#endif
