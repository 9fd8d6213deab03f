/* SPDX-License-Identifier: Apache-2.0 */
/* task_queue.c - the queue of tasks of one owner. */
#include "queue/task_queue.h"
#include "queue/task.h"

#include "testing/random.h"
#include "scarce.h"

#include <errno.h>
#include <limits.h>
#include "testing/test.h"

static struct task numbered(uintptr_t n)
{
	return (struct task){ .meta = n };
}

static uintptr_t pop_front(struct task_queue *q)
{
	struct task t = { 0 };

	assert_true(sn_task_queue_pop_front(q, &t));
	return t.meta;
}

static uintptr_t pop_back(struct task_queue *q)
{
	struct task t = { 0 };

	assert_true(sn_task_queue_pop_back(q, &t));
	return t.meta;
}

TEST(an_unused_queue_allocates_nothing)
{
	struct scarce     s = { 0 };
	sennit_allocator  a = SCARCE(&s);
	struct task_queue q;
	struct task       t;

	sn_task_queue_init(&q, &a);
	assert_false(sn_task_queue_pop_front(&q, &t));
	assert_false(sn_task_queue_pop_back(&q, &t));
	assert_true(sn_task_queue_is_empty(&q));
	assert_int_equal(sn_task_queue_push_back(&q, numbered(1)), -ENOMEM);
	assert_true(sn_task_queue_is_empty(&q));
	sn_task_queue_free(&q);
	assert_int_equal(s.held, 0);
}

TEST(all_three_words_come_back)
{
	struct task in = TASK((sennit_task_fn *)(uintptr_t)0x1000, &in, 7);
	struct task out;
	struct task_queue q;

	sn_task_queue_init(&q, &sn_memory_libc);
	assert_int_equal(sn_task_queue_push_back(&q, in), 0);
	assert_true(sn_task_queue_pop_front(&q, &out));
	assert_memory_equal(&in, &out, sizeof(in));
	sn_task_queue_free(&q);
}

TEST(front_is_oldest_and_back_is_newest)
{
	struct task_queue q;

	sn_task_queue_init(&q, &sn_memory_libc);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(sn_task_queue_push_back(&q, numbered(i)), 0);
	assert_int_equal(pop_front(&q), 0);
	assert_int_equal(pop_back(&q), 3);
	assert_int_equal(pop_front(&q), 1);
	assert_int_equal(pop_back(&q), 2);
	assert_true(sn_task_queue_is_empty(&q));
	sn_task_queue_free(&q);
}

TEST(a_failed_push_changes_nothing)
{
	struct scarce     s = { .left = 1 };
	sennit_allocator  a = SCARCE(&s);
	struct task_queue q;
	uintptr_t         n = 0;

	sn_task_queue_init(&q, &a);
	while (sn_task_queue_push_back(&q, numbered(n)) == 0)
		n++;
	assert_int_equal(sn_task_queue_count(&q), n);
	s.left = 1;
	assert_int_equal(sn_task_queue_push_back(&q, numbered(n)), 0);
	for (uintptr_t i = 0; i <= n; i++)
		assert_int_equal(pop_front(&q), i);
	sn_task_queue_free(&q);
	assert_int_equal(s.held, 0);
}

TEST(room_made_is_room_enough)
{
	struct scarce          s = { .left = 100000 };
	const sennit_allocator a = SCARCE(&s);
	struct task_queue      q;

	sn_task_queue_init(&q, &a);
	for (uint32_t n = 1; n < 1000; n = 3 * n + 1) {
		assert_int_equal(sn_task_queue_reserve(&q, n), 0);
		s.left = 0;
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(
				sn_task_queue_push_back(&q, numbered(i)), 0);
		assert_int_equal(sn_task_queue_reserve(&q, 100000), -ENOMEM);
		s.left = 100000;
	}
	sn_task_queue_free(&q);
	assert_int_equal(s.held, 0);
}

/* The queue always holds consecutive numbers, so that a first and a last number
 * model it. */
TEST(any_mix_of_calls_matches_a_queue)
{
	uint64_t          random = random_stream(0);
	uintptr_t         oldest = 0;
	uintptr_t         next = 0;
	struct task_queue q;

	sn_task_queue_init(&q, &sn_memory_libc);
	for (uint64_t i = scaled(1000000); i; i--) {
		uint32_t wish = random_below(&random, 1000) < 501 ? 0 : 1;

		if (wish == 0)
			assert_int_equal(
				sn_task_queue_push_back(&q, numbered(next++)),
				0);
		else if (oldest != next && random_below(&random, 2))
			assert_int_equal(pop_front(&q), oldest++);
		else if (oldest != next)
			assert_int_equal(pop_back(&q), --next);
		assert_int_equal(sn_task_queue_count(&q), next - oldest);
	}
	sn_task_queue_free(&q);
}

/* A queue that grows keeps its tasks where they are: a push that copied them
 * would take as long as there are tasks. */
TEST(growing_moves_no_task)
{
	struct task_queue  q;
	const struct task *first;

	sn_task_queue_init(&q, &sn_memory_libc);
	assert_int_equal(sn_task_queue_push_back(&q, numbered(0)), 0);
	first = q.head;
	for (uintptr_t i = 1; i < 100000; i++)
		assert_int_equal(sn_task_queue_push_back(&q, numbered(i)), 0);
	assert_ptr_equal(q.head, first);
	for (uintptr_t i = 0; i < 100000; i++)
		assert_int_equal(pop_front(&q), i);
	sn_task_queue_free(&q);
}

/* From each end, with each number of tasks left. */
TEST(emptied_segments_are_used_again_and_trimmed)
{
	struct scarce          s = { .left = 100000 };
	const sennit_allocator a = SCARCE(&s);
	struct task_queue      q;

	sn_task_queue_init(&q, &a);
	for (uint32_t rest = 0; rest < 6000; rest += 997)
		for (int front = 0; front < 2; front++) {
			uint32_t n = 20000;

			s.left = 100000;
			while (sn_task_queue_count(&q) < n)
				assert_int_equal(sn_task_queue_push_back(
							 &q, numbered(0)),
						 0);
			s.left = 0;
			while (sn_task_queue_count(&q) > rest)
				front ? pop_front(&q) : pop_back(&q);
			while (sn_task_queue_count(&q) < n - 4096)
				assert_int_equal(sn_task_queue_push_back(
							 &q, numbered(0)),
						 0);
			while (sn_task_queue_count(&q) > rest)
				front ? pop_back(&q) : pop_front(&q);
			sn_task_queue_trim(&q);
			assert_in_range(q.room, rest, 4 * rest + 2 * 4096);
		}
	sn_task_queue_free(&q);
	assert_int_equal(s.held, 0);
}

static void fill_and_empty(struct task_queue *q, bool front)
{
	while (sn_task_queue_count(q) < 20000)
		assert_int_equal(sn_task_queue_push_back(q, numbered(0)), 0);
	while (!sn_task_queue_is_empty(q))
		front ? pop_front(q) : pop_back(q);
}

/* What was reserved for the next task of a backlog stays, and no more than
 * that: in whatever order the segments were emptied. */
TEST(a_trim_leaves_little_room_in_an_empty_queue)
{
	struct scarce          s = { .left = 100000 };
	const sennit_allocator a = SCARCE(&s);
	struct task_queue      q;

	sn_task_queue_init(&q, &a);
	for (unsigned ways = 0; ways < 16; ways++) {
		s.left = 100000;
		for (unsigned round = 0; round <= ways / 4; round++)
			fill_and_empty(&q, ways >> round & 1);
		sn_task_queue_trim(&q);
		assert_in_range(q.room, 1, QUEUE_KEPT);
		sn_task_queue_trim(&q);
		assert_false(sn_task_queue_is_large(&q));
		s.left = 0;
		assert_int_equal(sn_task_queue_push_back(&q, numbered(0)), 0);
	}
	sn_task_queue_free(&q);
	assert_int_equal(s.held, 0);
}

/* --- every order of calls ----------------------------------------------- */

/* A queue of consecutive numbers. */
struct model {
	struct task_queue q;
	struct scarce     memory;
	sennit_allocator  allocator;
	uintptr_t         oldest, next;
	uint32_t          newest;   /* as sn_task_queue_newest() */
	uint32_t          promised; /* so many pushes need no memory */
};

/* A call adds or takes so many tasks. */
#define STEP TORTURED(1u, 11u)

static void push_step(struct model *m, unsigned allocations)
{
	m->memory.left = allocations;
	for (uint32_t i = 0; i < STEP; i++) {
		int err = sn_task_queue_push_back(&m->q, numbered(m->next));

		assert_true(!err || (!allocations && !m->promised));
		if (err)
			continue;
		m->next++;
		m->newest++;
		m->promised -= m->promised != 0;
	}
}

static void pop_step(struct model *m, bool front)
{
	for (uint32_t i = 0; i < STEP && m->oldest != m->next; i++)
		if (front) {
			assert_int_equal(pop_front(&m->q), m->oldest++);
		} else {
			assert_int_equal(pop_back(&m->q), --m->next);
			m->newest--;
		}
}

static void reserve_steps(struct model *m, unsigned allocations)
{
	m->memory.left = allocations;
	if (!sn_task_queue_reserve(&m->q, 3 * STEP))
		m->promised = 3 * STEP;
	else
		assert_int_equal(m->memory.left, 0);
}

static void trim_model(struct model *m)
{
	sn_task_queue_trim(&m->q);
	m->promised = m->promised && m->oldest == m->next;
}

static void call_of_model(struct model *m, unsigned call)
{
	switch (call) {
	case 0:
		push_step(m, UINT_MAX);
		break;
	case 1:
		push_step(m, 0);
		break;
	case 2:
	case 3:
		pop_step(m, call == 2);
		break;
	case 4:
		reserve_steps(m, 1);
		break;
	case 5:
		trim_model(m);
		break;
	}
	assert_int_equal(sn_task_queue_count(&m->q), m->next - m->oldest);
	assert_int_equal(sn_task_queue_newest(&m->q), m->newest);
}

/* At the end no push that a reservation covers may fail, and all tasks are
 * there. */
TEST(every_order_of_calls_matches_a_queue)
{
	enum { CALLS = 6, KINDS = 6, ORDERS = 46656 };

	for (uint32_t order = 0; order < ORDERS; order++) {
		struct model m = { .newest = UINT32_MAX - 2 };

		m.allocator = (sennit_allocator)SCARCE(&m.memory);
		sn_task_queue_init(&m.q, &m.allocator);
		m.q.taken = m.newest; /* it wraps */
		for (uint32_t rest = order, i = 0; i < CALLS; i++) {
			call_of_model(&m, rest % KINDS);
			rest /= KINDS;
		}
		m.memory.left = 0;
		for (; m.promised; m.promised--)
			assert_int_equal(sn_task_queue_push_back(
						 &m.q, numbered(m.next++)),
					 0);
		while (m.oldest != m.next)
			assert_int_equal(pop_front(&m.q), m.oldest++);
		sn_task_queue_free(&m.q);
		assert_int_equal(m.memory.held, 0);
	}
}
