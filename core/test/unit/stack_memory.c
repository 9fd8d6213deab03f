/* SPDX-License-Identifier: Apache-2.0 */
/* stack_memory.c - stacks when memory is short, and memory that is given
 * back. */
#include "os/os.h"
#include "stack/stack.h"

#include "testing/child.h"
#include "stacks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- taking and giving -------------------------------------------------- */

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

TEST(impossible_size_is_refused)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX / 4 + 1 };
	struct stacks       s;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			sn_stacks_init(&s, &sn_memory_libc, sizes[i], 1, 0),
			-EINVAL);
		assert_int_equal(
			sn_stacks_init(&s, &sn_memory_libc, 1, sizes[i], 0),
			-EINVAL);
	}
}

TEST(no_address_space_is_no_stack)
{
	struct stacks s;
	void         *low;

	if (sizeof(void *) < 8) {
		print_message("a quarter of 32 bits may well be free\n");
		skip();
	}
	assert_int_equal(
		sn_stacks_init(&s, &sn_memory_libc, SIZE_MAX / 4, GUARD, 0), 0);
	assert_int_equal(take_stacks(&s, &low, 1), 0);
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
	return !setrlimit(RLIMIT_AS, &limit) && take_stacks(&s, low, 2) == 2;
}

TEST(little_address_space_is_a_small_slab)
{
	const pid_t child = begin_child();

	if (!child)
		_exit(slab_is_made_smaller() ? 0 : 1);
	assert_int_equal(await_child(child), 0);
}

TEST(huge_stacks_come_one_at_a_time)
{
	const size_t  huge = (size_t)1 << (sizeof(size_t) == 8 ? 30 : 28);
	struct stacks s;
	void         *low[2];

	assert_int_equal(sn_stacks_init(&s, &sn_memory_libc, huge, GUARD, 0),
			 0);
	assert_int_equal(take_stacks(&s, low, 2), 2);
	memset(low[0], 1, SIZE);
	memset(low[1], 2, SIZE);
	sn_stacks_give(&s, low, 2);
	sn_stacks_free(&s);
}

static bool is_out_of_memory;

static void *allocate(void *context, size_t size, size_t alignment)
{
	return is_out_of_memory
		       ? NULL
		       : sn_memory_libc.allocate(NULL, size, alignment);
}

static void release(void *context, void *memory, size_t size)
{
	sn_memory_libc.release(NULL, memory, size);
}

TEST(failed_allocation_is_no_stack_and_passes)
{
	const sennit_allocator memory = { allocate, release, NULL };
	struct stacks          s;
	void                  *low;

	assert_int_equal(sn_stacks_init(&s, &memory, SIZE, GUARD, 0), 0);
	is_out_of_memory = true;
	assert_int_equal(take_stacks(&s, &low, 1), 0);
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
	s.slabs.guards.kind = kind;
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

/* The first round also includes memory that libc keeps. */
TEST(everything_is_unmapped)
{
	struct maps before = { 0, 0 };
	struct maps after;

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

TEST(trimmed_stacks_cost_nothing)
{
	enum { COUNT = 2000 };
	static void  *low[COUNT];
	struct stacks s;
	size_t        before;
	uint32_t      n = 0;

	make(&s, 0);
	before = resident();
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
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

TEST(what_rests_unneeded_is_known)
{
	enum { COUNT = 100 };
	void         *low[COUNT];
	struct stacks s;

	make(&s, 0);
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	sn_stacks_give(&s, low, COUNT);
	assert_int_equal(sn_stacks_unused(&s), 0);
	assert_int_equal(take_stacks(&s, low, 30), 30);
	sn_stacks_give(&s, low, 30);
	assert_int_equal(sn_stacks_unused(&s), COUNT - 30);
	assert_int_equal(sn_stacks_unused(&s), COUNT);
	sn_stacks_free(&s);
}

TEST(trimmed_ones_do_not_count_for_the_limit)
{
	enum { COUNT = 10 };
	void         *low[COUNT];
	struct stacks s;

	make(&s, COUNT);
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	sn_stacks_return(&s, low, 4);
	assert_int_equal(take_stacks(&s, low, COUNT), 4);
	sn_stacks_return(&s, low, 4);
	sn_stacks_return(&s, low + 4, COUNT - 4);
	assert_int_equal(sn_stacks_count(&s).made, 0);
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}
