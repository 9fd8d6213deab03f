/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - the ring of tasks of one owner. */
#include "queue/task.h"

#include "../random.h"
#include "scarce.h"

#include <errno.h>
#include "../test.h"

static struct task numbered(uintptr_t n)
{
	return (struct task){ .meta = n };
}

static uintptr_t pop_front(struct ring *r)
{
	struct task t = { 0 };

	assert_true(sn_ring_pop_front(r, &t));
	return t.meta;
}

static uintptr_t pop_back(struct ring *r)
{
	struct task t = { 0 };

	assert_true(sn_ring_pop_back(r, &t));
	return t.meta;
}

TEST(an_unused_ring_allocates_nothing)
{
	struct scarce    s = { 0 };
	sennit_allocator a = SCARCE(&s);
	struct ring      r;
	struct task      t;

	sn_ring_init(&r, &a);
	assert_false(sn_ring_pop_front(&r, &t));
	assert_false(sn_ring_pop_back(&r, &t));
	assert_true(sn_ring_is_empty(&r));
	assert_int_equal(sn_ring_push_back(&r, numbered(1)), -ENOMEM);
	assert_true(sn_ring_is_empty(&r));
	sn_ring_free(&r);
	assert_int_equal(s.held, 0);
}

TEST(all_three_words_come_back)
{
	struct task in = TASK((sennit_task_fn *)(uintptr_t)0x1000, &in, 7);
	struct task out;
	struct ring r;

	sn_ring_init(&r, &sn_memory_libc);
	assert_int_equal(sn_ring_push_back(&r, in), 0);
	assert_true(sn_ring_pop_front(&r, &out));
	assert_memory_equal(&in, &out, sizeof(in));
	sn_ring_free(&r);
}

TEST(front_is_oldest_and_back_is_newest)
{
	struct ring r;

	sn_ring_init(&r, &sn_memory_libc);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(sn_ring_push_back(&r, numbered(i)), 0);
	assert_int_equal(pop_front(&r), 0);
	assert_int_equal(pop_back(&r), 3);
	assert_int_equal(pop_front(&r), 1);
	assert_int_equal(pop_back(&r), 2);
	assert_true(sn_ring_is_empty(&r));
	sn_ring_free(&r);
}

TEST(a_failed_push_changes_nothing)
{
	struct scarce    s = { .left = 1 };
	sennit_allocator a = SCARCE(&s);
	struct ring      r;
	uintptr_t        n = 0;

	sn_ring_init(&r, &a);
	while (sn_ring_push_back(&r, numbered(n)) == 0)
		n++;
	assert_int_equal(sn_ring_count(&r), n);
	s.left = 1;
	assert_int_equal(sn_ring_push_back(&r, numbered(n)), 0);
	for (uintptr_t i = 0; i <= n; i++)
		assert_int_equal(pop_front(&r), i);
	sn_ring_free(&r);
	assert_int_equal(s.held, 0);
}

TEST(room_made_is_room_enough)
{
	struct scarce          s = { .left = 100 };
	const sennit_allocator a = SCARCE(&s);
	struct ring            r;

	sn_ring_init(&r, &a);
	for (uint32_t n = 1; n < 1000; n = 3 * n + 1) {
		assert_int_equal(sn_ring_reserve(&r, n), 0);
		s.left = 0;
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(sn_ring_push_back(&r, numbered(i)), 0);
		assert_int_equal(sn_ring_reserve(&r, 100000), -ENOMEM);
		s.left = 100;
	}
	sn_ring_free(&r);
	assert_int_equal(s.held, 0);
}

/* The ring always holds consecutive numbers, so a first and a last number model
 * it. */
TEST(any_mix_of_calls_matches_a_queue)
{
	uint64_t    random = random_stream(0);
	uintptr_t   oldest = 0;
	uintptr_t   next = 0;
	struct ring r;

	sn_ring_init(&r, &sn_memory_libc);
	for (uint64_t i = scaled(1000000); i; i--) {
		uint32_t wish = random_below(&random, 1000) < 501 ? 0 : 1;

		if (wish == 0)
			assert_int_equal(
				sn_ring_push_back(&r, numbered(next++)), 0);
		else if (oldest != next && random_below(&random, 2))
			assert_int_equal(pop_front(&r), oldest++);
		else if (oldest != next)
			assert_int_equal(pop_back(&r), --next);
		assert_int_equal(sn_ring_count(&r), next - oldest);
	}
	sn_ring_free(&r);
}
