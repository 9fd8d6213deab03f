/* SPDX-License-Identifier: Apache-2.0 */
/* deque.c - the split deque, step by step, on one thread: the owner, and any
 * mix of calls. deque_publish.c tests thefts;
 * core/test/stress/deque_owner_vs_thieves.c runs owner and thieves at the same
 * time. */
#include "one_deque.h"
#include "testing/random.h"

#include <errno.h>

static uint32_t pop_oldest(void)
{
	struct task t = { 0 };

	assert_true(sn_deque_pop_oldest(&deque, &t));
	return number_of(t);
}

TEST_STEP(the_owner_gets_its_newest_task)
{
	push(1, 3);
	assert_int_equal(pop(), 3);
	assert_int_equal(pop(), 2);
	push(4, 4);
	assert_int_equal(pop(), 4);
	assert_int_equal(pop(), 1);
	assert_empty();
}

static void push_at_once(uint32_t from, uint32_t to)
{
	uint32_t n = to - from + 1;

	assert_int_equal(sn_deque_reserve(&deque, n), 0);
	assert_true(sn_deque_has_room_for(&deque, n));
	for (uint32_t i = 0; i < n; i++)
		sn_slot_fill(sn_deque_spare(&deque, i), numbered(from + i));
	assert_int_equal(sn_deque_count(&deque), from - 1);
	sn_deque_push_filled(&deque, n);
}

TEST_STEP(filled_slots_become_tasks_in_one_step)
{
	push(1, 2);
	push_at_once(3, 4);  /* as many as there are slots */
	push_at_once(5, 40); /* many more than slots */
	for (uint32_t i = 40; i > 20; i--)
		assert_int_equal(pop(), i);
	for (uint32_t i = 1; i <= 20; i++)
		assert_int_equal(pop_oldest(), i);
	assert_empty();
}

TEST_STEP(no_room_for_all_is_room_for_none)
{
	push(1, 3);
	memory.left = 0;
	assert_int_equal(sn_deque_reserve(&deque, 2), -ENOMEM);
	assert_int_equal(sn_deque_reserve(&deque, UINT32_MAX), -ENOMEM);
	assert_int_equal(sn_deque_reserve(&deque, 1), 0);
	push(4, 4);
	assert_int_equal(pop(), 4);
	assert_int_equal(sn_deque_count(&deque), 3);
}

static bool pop_if(uintptr_t wanted)
{
	struct task t;
	bool        got = sn_deque_pop_if(&deque, ~(uintptr_t)1, wanted, &t);

	if (got)
		assert_int_equal(number_of(t) & ~1u, wanted);
	return got;
}

/* A popped task still lies in its slot. */
TEST_STEP(the_newest_task_is_popped_only_if_it_is_wanted)
{
	push(1, 5);
	assert_false(pop_if(2));
	assert_true(pop_if(4));
	assert_true(pop_if(4));
	assert_false(pop_if(4));
	while (sn_deque_publish(&deque) < 3)
		;
	assert_false(pop_if(4));
	assert_true(pop_if(2));
	assert_int_equal(pop() + pop(), 1 + 2);
	assert_false(pop_if(0));
	assert_empty();
}

TEST_STEP(the_owner_gets_its_oldest_task_when_it_asks_for_it)
{
	push(1, 9);
	for (uint32_t n = 1; n <= 4; n++)
		assert_int_equal(pop_oldest(), n);
	assert_int_equal(pop(), 9);
	for (uint32_t n = 5; n <= 8; n++)
		assert_int_equal(pop_oldest(), n);
	assert_empty();
}

TEST_STEP(a_failed_push_changes_nothing)
{
	push(1, 4);
	sn_deque_publish(&deque);
	memory.left = 0;
	assert_int_equal(sn_deque_push(&deque, numbered(5)), -ENOMEM);
	assert_int_equal(sn_deque_push(&deque, numbered(5)), -ENOMEM);
	assert_int_equal(sn_deque_count(&deque), 4);
	memory.left = 1;
	push(5, 5);
	for (uint32_t n = 1; n <= 5; n++)
		assert_int_equal(pop_oldest(), n);
	assert_empty();
}

TEST_STEP(stolen_slots_are_filled_again_before_it_grows)
{
	struct task t;

	memory.left = 0;
	push(1, 4);
	for (uint32_t n = 1; n < 100; n++) {
		sn_deque_publish(&deque);
		assert_int_equal(sn_deque_steal(&deque, &t, 1), 1);
		assert_int_equal(number_of(t), n);
		push(n + 4, n + 4);
	}
}

TEST(init_fails_without_memory)
{
	struct scarce    none = { 0 };
	sennit_allocator a = SCARCE(&none);
	struct deque     d;

	assert_int_equal(sn_deque_init(&d, &a, 4, false), -ENOMEM);
}

/* The tasks order[first..last-1], oldest first. */
struct model {
	uint32_t order[4096];
	uint32_t first;
	uint32_t last;
};

static void forget(struct model *m, uint32_t at)
{
	for (uint32_t i = at; i > m->first; i--)
		m->order[i] = m->order[i - 1];
	m->first++;
}

/* The owner's newest task must be the model's newest, except for an old task
 * that was taken back and now lies above younger public tasks. */
static void pop_and_compare(struct model *m)
{
	struct task t;
	bool        found = sn_deque_pop(&deque, &t);
	uint32_t    at = m->last;

	assert_int_equal(found, m->first != m->last);
	if (!found)
		return;
	while (at > m->first && m->order[at - 1] != number_of(t))
		at--;
	assert_int_not_equal(at, m->first);
	forget(m, at - 1);
}

static void steal_and_compare(struct model *m, uint32_t max)
{
	struct task t[8];
	uint32_t    count = sn_deque_steal(&deque, t, max);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = m->first;

		while (at < m->last && m->order[at] != number_of(t[i]))
			at++;
		assert_int_not_equal(at, m->last);
		forget(m, at);
	}
}

static void step(struct model *m, uint32_t wish, uint64_t *random)
{
	struct task t;

	if (wish < 40) {
		push(m->last, m->last);
		m->order[m->last] = m->last;
		m->last++;
	} else if (wish < 70) {
		pop_and_compare(m);
	} else if (wish < 75) {
		bool any = sn_deque_pop_oldest(&deque, &t);

		assert_int_equal(any, m->first != m->last);
		for (uint32_t i = m->first; any; i++)
			if (m->order[i] == number_of(t)) {
				forget(m, i);
				break;
			}
	} else if (wish < 83) {
		sn_deque_publish(&deque);
	} else if (wish < 85) {
		sn_deque_force(&deque);
	} else if (wish < 90) {
		assert_int_equal(sn_deque_has_tasks(&deque),
				 m->first != m->last);
	} else {
		steal_and_compare(m, random_below(random, 9));
	}
	assert_int_equal(sn_deque_count(&deque), m->last - m->first);
}

TEST(any_mix_of_calls_matches_a_list)
{
	static struct model m;
	uint64_t            random = random_stream(0);

	for (uint64_t round = scaled(200); round; round--) {
		start(round % 2 == 0 && os_process_barrier_init());
		m.first = m.last = 0;
		while (m.last < 4096)
			step(&m, random_below(&random, 100), &random);
		while (m.first != m.last)
			pop_and_compare(&m);
		assert_empty();
		assert_int_equal(finish(NULL), 0);
	}
}
