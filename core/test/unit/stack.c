/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - stacks: reuse and limit, also with many threads. */
#include "os/os.h"
#include "stack/stack.h"

#include "stacks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- taking and giving -------------------------------------------------- */

TEST(stacks_do_not_overlap)
{
	enum { COUNT = 300 };
	void         *low[COUNT];
	struct stacks s;

	make(&s, 0);
	for (int i = 0; i < COUNT; i += 3)
		assert_int_equal(take_stacks(&s, low + i, 3), 3);
	qsort(low, COUNT, sizeof(*low), by_address);
	for (int i = 1; i < COUNT; i++)
		assert_true((char *)low[i - 1] + sn_stacks_usable(&s) <
			    (char *)low[i]);
	assert_int_equal(sn_stacks_count(&s).made, COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

TEST(fresh_stack_reads_as_zeros)
{
	struct stacks s;
	const char   *low;

	make(&s, 0);
	low = take_one(&s);
	for (size_t i = 0; i < sn_stacks_usable(&s); i++)
		assert_int_equal(low[i], 0);
	give_one(&s, (char *)(uintptr_t)low);
	sn_stacks_free(&s);
}

TEST(last_given_is_taken_first_as_it_was_left)
{
	struct stacks        s;
	void                *low[2];
	const unsigned char *again;

	make(&s, 0);
	assert_int_equal(take_stacks(&s, low, 2), 2);
	memset(low[0], 0x11, sn_stacks_usable(&s));
	memset(low[1], 0x22, sn_stacks_usable(&s));
	give_one(&s, low[0]);
	give_one(&s, low[1]);
	again = take_one(&s);
	assert_ptr_equal(again, low[1]);
	for (size_t i = 0; i < sn_stacks_usable(&s); i++)
		assert_int_equal(again[i], 0x22);
	give_one(&s, low[1]);
	sn_stacks_free(&s);
}

TEST(limit_is_never_passed)
{
	struct stacks s;
	void         *low[20];

	make(&s, 10);
	assert_int_equal(take_stacks(&s, low, 7), 7);
	assert_int_equal(take_stacks(&s, low + 7, 7), 3);
	assert_int_equal(take_stacks(&s, low + 10, 1), 0);
	give_one(&s, low[9]);
	assert_ptr_equal(take_one(&s), low[9]);
	assert_int_equal(take_stacks(&s, low + 10, 1), 0);
	assert_int_equal(sn_stacks_count(&s).made, 10);
	sn_stacks_give(&s, low, 10);
	sn_stacks_free(&s);
}

/* Symptom: a worker whose thread begins late found its stack taken. */
TEST(a_stack_set_aside_is_nobody_elses)
{
	struct stacks s;
	void         *low[4];
	char         *aside;

	make(&s, 4);
	aside = sn_stacks_set_aside(&s);
	assert_non_null(aside);
	assert_int_equal(take_stacks(&s, low + 1, 4), 3);
	assert_null(sn_stacks_set_aside(&s));
	low[0] = sn_stacks_take_aside(&s, aside);
	memset(low[0], 0x33, sn_stacks_usable(&s));
	for (int i = 1; i < 4; i++)
		assert_int_equal(*(char *)low[i], 0);
	assert_int_equal(sn_stacks_count(&s).made, 4);
	sn_stacks_give(&s, low, 4);
	sn_stacks_free(&s);
}

TEST(a_stack_set_aside_may_be_dropped)
{
	struct stacks s;

	make(&s, 0);
	assert_non_null(sn_stacks_set_aside(&s));
	sn_stacks_drop_aside(&s);
	assert_int_equal(sn_stacks_count(&s).made, 0);
	sn_stacks_free(&s);
}

TEST(top_is_aligned_and_size_is_kept)
{
	static const size_t sizes[] = { 16384, 16385, 65536, 100000, 262144 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct stacks s;
		void         *low;

		assert_int_equal(
			sn_stacks_init(&s, &sn_memory_libc, sizes[i], GUARD, 0),
			0);
		for (uint32_t guards = 0; guards < 2; guards++) {
			s.slabs.guards.kind = OS_GUARD_MAPPING;
			s.slabs.guards.limit = guards;
			low = take_one(&s);
			assert_int_equal(
				((uintptr_t)low + sn_stacks_usable(&s)) % 64,
				0);
			assert_true(sn_stacks_usable(&s) + 64 >= sizes[i]);
			memset(low, 1, sn_stacks_usable(&s));
			give_one(&s, low);
		}
		sn_stacks_free(&s);
	}
}

TEST(guard_is_not_taken_from_the_size)
{
	size_t        page = os_page_size();
	struct stacks s;

	assert_int_equal(
		sn_stacks_init(&s, &sn_memory_libc, 16 * page, 3 * page, 0), 0);
	assert_int_equal(s.slabs.pitch, 19 * page);
	assert_int_equal(sn_stacks_usable(&s), 16 * page - 64);
	sn_stacks_free(&s);
	assert_int_equal(sn_stacks_init(&s, &sn_memory_libc, 1, 1, 0), 0);
	assert_int_equal(s.slabs.pitch, 2 * page);
	sn_stacks_free(&s);
}

/* --- many threads ------------------------------------------------------- */

enum { THREADS = 4, MOST_TAKEN = 40, ROUNDS = 3000 };

/* Take a stack, mark it, check that the mark is unchanged, give it back,
 * sometimes to the system. */
static void *take_and_give(void *argument)
{
	struct stacks *s = argument;
	uintptr_t      self = (uintptr_t)&self;
	void          *low[MOST_TAKEN];

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t n = take_stacks(s, low, 1 + round % MOST_TAKEN);

		for (uint32_t i = 0; i < n; i++)
			*(uintptr_t *)low[i] = self + i;
		for (uint32_t i = 0; i < n; i++) {
			if (*(uintptr_t *)low[i] != self + i)
				return "two threads have one stack";
		}
		if (round % 3)
			sn_stacks_give(s, low, n);
		else
			sn_stacks_return(s, low, n);
		if (round % 5 == 0)
			sn_stacks_trim(s, 10);
	}
	return NULL;
}

static void run_threads(struct stacks *s, void *(*run)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, s), 0);
	for (int i = 0; i < THREADS; i++) {
		void *why;

		pthread_join(threads[i], &why);
		assert_null(why);
	}
}

TEST(threads_never_share_a_stack)
{
	struct stacks s;

	make(&s, 100);
	run_threads(&s, take_and_give);
	assert_true(sn_stacks_count(&s).made <= 100);
	sn_stacks_free(&s); /* aborts if a stack is missing */
}

enum { MANY = 200, NEW_ROUNDS = 40 };

/* Whether the stack lacks a cheap guard: the system can read below it. */
static bool lacks_guard(const struct stacks *s, const char *low)
{
	bool is_readable = false;
#ifdef __linux__
	int ends[2];

	if (s->slabs.guards.kind == OS_GUARD_CHEAP && !pipe(ends)) {
		is_readable = write(ends[1], low - 1, 1) == 1;
		close(ends[0]);
		close(ends[1]);
	}
#else
#endif
	return is_readable;
}

/* Take so many that batches of new ones come, and let the slabs be renewed by
 * giving all to the system. */
static void *take_new(void *argument)
{
	struct stacks *s = argument;
	uintptr_t      self = (uintptr_t)&self;
	const char    *why = NULL;
	void          *low[MANY + MOST_TAKEN];

	for (uint32_t round = 0; round < NEW_ROUNDS; round++) {
		uint32_t n = 0;

		while (n < MANY) {
			uint32_t more = take_stacks(s, low + n,
						    1 + round % MOST_TAKEN);

			for (; more; more--, n++)
				*(uintptr_t *)low[n] = self + n;
		}
		for (uint32_t i = 0; i < n; i++) {
			if (*(uintptr_t *)low[i] != self + i)
				why = "two threads have one stack";
			if (i % 16 == 0 && lacks_guard(s, low[i]))
				why = "a stack has no guard";
		}
		sn_stacks_return(s, low, n);
	}
	return (void *)(uintptr_t)why;
}

TEST(threads_take_new_ones_at_once)
{
	struct stacks s;

	make(&s, 0);
	run_threads(&s, take_new);
	assert_int_equal(sn_stacks_count(&s).made, 0);
	sn_stacks_free(&s);
}
