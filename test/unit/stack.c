/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - stacks: reuse, limit, and memory use. */
#include "core/stack.h"

#include "../child.h"
#include "stacks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- taking and giving -------------------------------------------------- */

static void stacks_do_not_overlap(void **state)
{
	enum { COUNT = 300 };
	void         *low[COUNT];
	struct stacks s;

	(void)state;
	make(&s, 0);
	for (int i = 0; i < COUNT; i += 3)
		assert_int_equal(sn_stacks_take(&s, low + i, 3), 3);
	qsort(low, COUNT, sizeof(*low), by_address);
	for (int i = 1; i < COUNT; i++)
		assert_true((char *)low[i - 1] + sn_stacks_usable(&s) <
			    (char *)low[i]);
	assert_int_equal(sn_stacks_count(&s).made, COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

static void fresh_stack_reads_as_zeros(void **state)
{
	struct stacks s;
	const char   *low;

	(void)state;
	make(&s, 0);
	low = take_one(&s);
	for (size_t i = 0; i < sn_stacks_usable(&s); i++)
		assert_int_equal(low[i], 0);
	give_one(&s, (char *)(uintptr_t)low);
	sn_stacks_free(&s);
}

static void last_given_is_taken_first_as_it_was_left(void **state)
{
	struct stacks        s;
	void                *low[2];
	const unsigned char *again;

	(void)state;
	make(&s, 0);
	assert_int_equal(sn_stacks_take(&s, low, 2), 2);
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

static void limit_is_never_passed(void **state)
{
	struct stacks s;
	void         *low[20];

	(void)state;
	make(&s, 10);
	assert_int_equal(sn_stacks_take(&s, low, 7), 7);
	assert_int_equal(sn_stacks_take(&s, low + 7, 7), 3);
	assert_int_equal(sn_stacks_take(&s, low + 10, 1), 0);
	give_one(&s, low[9]);
	assert_ptr_equal(take_one(&s), low[9]);
	assert_int_equal(sn_stacks_take(&s, low + 10, 1), 0);
	assert_int_equal(sn_stacks_count(&s).made, 10);
	sn_stacks_give(&s, low, 10);
	sn_stacks_free(&s);
}

/* Symptom: a worker whose thread begins late found its stack taken. */
static void a_stack_set_aside_is_nobody_elses(void **state)
{
	struct stacks s;
	void         *low[4];
	char         *aside;

	(void)state;
	make(&s, 4);
	aside = sn_stacks_set_aside(&s);
	assert_non_null(aside);
	assert_int_equal(sn_stacks_take(&s, low + 1, 4), 3);
	assert_null(sn_stacks_set_aside(&s));
	low[0] = sn_stacks_take_aside(&s, aside);
	memset(low[0], 0x33, sn_stacks_usable(&s));
	for (int i = 1; i < 4; i++)
		assert_int_equal(*(char *)low[i], 0);
	assert_int_equal(sn_stacks_count(&s).made, 4);
	sn_stacks_give(&s, low, 4);
	sn_stacks_free(&s);
}

static void a_stack_set_aside_may_be_dropped(void **state)
{
	struct stacks s;

	(void)state;
	make(&s, 0);
	assert_non_null(sn_stacks_set_aside(&s));
	sn_stacks_drop_aside(&s);
	assert_int_equal(sn_stacks_count(&s).made, 0);
	sn_stacks_free(&s);
}

static void top_is_aligned_and_size_is_kept(void **state)
{
	static const size_t sizes[] = { 16384, 16385, 65536, 100000, 262144 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct stacks s;
		void         *low;

		assert_int_equal(
			sn_stacks_init(&s, &sn_memory_libc, sizes[i], GUARD, 0),
			0);
		for (uint32_t guards = 0; guards < 2; guards++) {
			s.slabs.kind = OS_GUARD_MAPPING;
			s.slabs.mapping_limit = guards;
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

static void guard_is_not_taken_from_the_size(void **state)
{
	size_t        page = os_page_size();
	struct stacks s;

	(void)state;
	assert_int_equal(
		sn_stacks_init(&s, &sn_memory_libc, 16 * page, 3 * page, 0), 0);
	assert_int_equal(s.slabs.pitch, 19 * page);
	assert_int_equal(sn_stacks_usable(&s), 16 * page - 64);
	sn_stacks_free(&s);
	assert_int_equal(sn_stacks_init(&s, &sn_memory_libc, 1, 1, 0), 0);
	assert_int_equal(s.slabs.pitch, 2 * page);
	sn_stacks_free(&s);
}

struct maps {
	size_t count;
	size_t bytes;
};

static struct maps read_maps(void)
{
	FILE         *f = fopen("/proc/self/maps", "re");
	struct maps   m = { 0, 0 };
	unsigned long from;
	unsigned long to;

	assert_non_null(f);
	while (fscanf(f, "%lx-%lx%*[^\n]", &from, &to) == 2) {
		m.count++;
		m.bytes += to - from;
	}
	fclose(f);
	return m;
}

/* --- when there is no memory -------------------------------------------- */

static void impossible_size_is_refused(void **state)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX / 4 + 1 };
	struct stacks       s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			sn_stacks_init(&s, &sn_memory_libc, sizes[i], 1, 0),
			-EINVAL);
		assert_int_equal(
			sn_stacks_init(&s, &sn_memory_libc, 1, sizes[i], 0),
			-EINVAL);
	}
}

static void no_address_space_is_no_stack(void **state)
{
	struct stacks s;
	void         *low;

	(void)state;
	assert_int_equal(
		sn_stacks_init(&s, &sn_memory_libc, SIZE_MAX / 4, GUARD, 0), 0);
	assert_int_equal(sn_stacks_take(&s, &low, 1), 0);
	assert_int_equal(sn_stacks_count(&s).made, 0);
	sn_stacks_free(&s);
}

/* Limit the process's address space to less than a slab needs. */
static bool slab_is_made_smaller(void)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	struct stacks s;
	void         *low[2];

	getrlimit(RLIMIT_AS, &limit);
	make(&s, 0);
	limit.rlim_cur = read_maps().bytes + 5 * s.slabs.pitch;
	return !setrlimit(RLIMIT_AS, &limit) && sn_stacks_take(&s, low, 2) == 2;
}

static void little_address_space_is_a_small_slab(void **state)
{
	const pid_t child = begin_child();

	(void)state;
	if (!child)
		_exit(slab_is_made_smaller() ? 0 : 1);
	assert_int_equal(await_child(child), 0);
}

static void huge_stacks_come_one_at_a_time(void **state)
{
	struct stacks s;
	void         *low[2];

	(void)state;
	assert_int_equal(
		sn_stacks_init(&s, &sn_memory_libc, (size_t)1 << 30, GUARD, 0),
		0);
	assert_int_equal(sn_stacks_take(&s, low, 2), 2);
	memset(low[0], 1, SIZE);
	memset(low[1], 2, SIZE);
	sn_stacks_give(&s, low, 2);
	sn_stacks_free(&s);
}

static bool is_out_of_memory;

static void *allocate(void *context, size_t size, size_t alignment)
{
	(void)context;
	return is_out_of_memory
		       ? NULL
		       : sn_memory_libc.allocate(NULL, size, alignment);
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	sn_memory_libc.release(NULL, memory, size);
}

static void failed_allocation_is_no_stack_and_passes(void **state)
{
	const sennit_allocator memory = { allocate, release, NULL };
	struct stacks          s;
	void                  *low;

	(void)state;
	assert_int_equal(sn_stacks_init(&s, &memory, SIZE, GUARD, 0), 0);
	is_out_of_memory = true;
	assert_int_equal(sn_stacks_take(&s, &low, 1), 0);
	is_out_of_memory = false;
	give_one(&s, take_one(&s));
	sn_stacks_free(&s);
}

/* --- afterwards --------------------------------------------------------- */

static void use_many(enum os_guard kind)
{
	enum { COUNT = 3000 };
	static void  *low[COUNT];
	struct stacks s;

	make(&s, 0);
	s.slabs.kind = kind;
	assert_int_equal(sn_stacks_take(&s, low, COUNT), COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

/* The first round also includes memory that libc keeps. */
static void everything_is_unmapped(void **state)
{
	struct maps before = { 0, 0 };
	struct maps after;

	(void)state;
	for (int round = 0; round < 2; round++) {
		before = read_maps();
		use_many(os_guard_kind());
		use_many(OS_GUARD_MAPPING);
		after = read_maps();
	}
	assert_int_equal(after.bytes, before.bytes);
	assert_int_equal(after.count, before.count);
}

/* --- given back to the system ------------------------------------------- */

static size_t resident(void)
{
	FILE         *f = fopen("/proc/self/statm", "re");
	unsigned long all;
	unsigned long pages;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &pages), 2);
	fclose(f);
	return pages * os_page_size();
}

static void trimmed_stacks_cost_nothing(void **state)
{
	enum { COUNT = 2000 };
	static void  *low[COUNT];
	struct stacks s;
	size_t        before;
	uint32_t      n = 0;

	(void)state;
	make(&s, 0);
	before = resident();
	assert_int_equal(sn_stacks_take(&s, low, COUNT), COUNT);
	for (int i = 0; i < COUNT; i++)
		memset(low[i], 1, sn_stacks_usable(&s));
	assert_true(resident() > before + COUNT * SIZE / 2);
	sn_stacks_give(&s, low, COUNT);
	assert_int_equal(sn_stacks_count(&s).resting, COUNT);
	while (n < COUNT - 100)
		n += sn_stacks_trim(&s, COUNT - 100 - n);
	assert_int_equal(sn_stacks_count(&s).resting, 100);
	assert_int_equal(sn_stacks_count(&s).trimmed, n);
#if !defined(SN_ASAN) && !defined(SN_TSAN) /* shadow memory stays */
	assert_true(resident() < before + COUNT * SIZE / 10);
#endif
	sn_stacks_free(&s);
}

static void what_rests_unneeded_is_known(void **state)
{
	enum { COUNT = 100 };
	void         *low[COUNT];
	struct stacks s;

	(void)state;
	make(&s, 0);
	assert_int_equal(sn_stacks_take(&s, low, COUNT), COUNT);
	sn_stacks_give(&s, low, COUNT);
	assert_int_equal(sn_stacks_unused(&s), 0);
	assert_int_equal(sn_stacks_take(&s, low, 30), 30);
	sn_stacks_give(&s, low, 30);
	assert_int_equal(sn_stacks_unused(&s), COUNT - 30);
	assert_int_equal(sn_stacks_unused(&s), COUNT);
	sn_stacks_free(&s);
}

static void trimmed_ones_do_not_count_for_the_limit(void **state)
{
	enum { COUNT = 10 };
	void         *low[COUNT];
	struct stacks s;

	(void)state;
	make(&s, COUNT);
	assert_int_equal(sn_stacks_take(&s, low, COUNT), COUNT);
	sn_stacks_return(&s, low, 4);
	assert_int_equal(sn_stacks_take(&s, low, COUNT), 4);
	sn_stacks_return(&s, low, 4);
	sn_stacks_return(&s, low + 4, COUNT - 4);
	assert_int_equal(sn_stacks_count(&s).made, 0);
	assert_int_equal(sn_stacks_take(&s, low, COUNT), COUNT);
	sn_stacks_give(&s, low, COUNT);
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
		uint32_t n = sn_stacks_take(s, low, 1 + round % MOST_TAKEN);

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

static void threads_never_share_a_stack(void **state)
{
	pthread_t     threads[THREADS];
	struct stacks s;

	(void)state;
	make(&s, 100);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_and_give, &s),
			0);
	for (int i = 0; i < THREADS; i++) {
		void *why;

		pthread_join(threads[i], &why);
		assert_null(why);
	}
	assert_true(sn_stacks_count(&s).made <= 100);
	sn_stacks_free(&s); /* aborts if a stack is missing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_do_not_overlap),
		cmocka_unit_test(fresh_stack_reads_as_zeros),
		cmocka_unit_test(last_given_is_taken_first_as_it_was_left),
		cmocka_unit_test(limit_is_never_passed),
		cmocka_unit_test(a_stack_set_aside_is_nobody_elses),
		cmocka_unit_test(a_stack_set_aside_may_be_dropped),
		cmocka_unit_test(top_is_aligned_and_size_is_kept),
		cmocka_unit_test(guard_is_not_taken_from_the_size),
		cmocka_unit_test(impossible_size_is_refused),
		cmocka_unit_test(no_address_space_is_no_stack),
		cmocka_unit_test(little_address_space_is_a_small_slab),
		cmocka_unit_test(huge_stacks_come_one_at_a_time),
		cmocka_unit_test(failed_allocation_is_no_stack_and_passes),
		cmocka_unit_test(everything_is_unmapped),
		cmocka_unit_test(trimmed_stacks_cost_nothing),
		cmocka_unit_test(what_rests_unneeded_is_known),
		cmocka_unit_test(trimmed_ones_do_not_count_for_the_limit),
		cmocka_unit_test(threads_never_share_a_stack),
	};

	return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
