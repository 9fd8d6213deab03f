/* SPDX-License-Identifier: Apache-2.0 */
/* stack_guard.c - what happens when code touches memory beyond the end of a
 * stack. */
#include "os/os.h"
#include "stacks.h"
#include "testing/proc_self.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void need_cheap_guards(void)
{
	if (os_guard_kind() == OS_GUARD_CHEAP)
		return;
	print_message("no cheap guards here\n");
	skip();
}

/* --- forbidden accesses ------------------------------------------------- */

static sigjmp_buf after_fault;

static void on_fault(int number)
{
	siglongjmp(after_fault, 1);
}

/* The handler runs on a stack of its own, as for a stack overflow. */
static void catch_faults(const struct sigaction *old, struct sigaction *kept)
{
	static char alternate[64 * 1024];
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction act = { .sa_handler = on_fault,
				 .sa_flags = SA_ONSTACK };

	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGSEGV, old ? old : &act, kept), 0);
}

/* Reads and writes the address without changing its contents. */
static bool faults(void *address)
{
	volatile char   *byte = address;
	struct sigaction old;
	volatile bool    fault = true;

	catch_faults(NULL, &old);
	if (!sigsetjmp(after_fault, 1)) {
		*byte = *byte;
		fault = false;
	}
	catch_faults(&old, NULL);
	return fault;
}

static void expect_guard(struct stacks *s)
{
	char  *low = take_one(s);
	size_t page = os_page_size();

	assert_true(sn_stacks_guarded(s));
	assert_true(faults(low - 1));
	for (size_t below = page; below <= GUARD; below += page)
		assert_true(faults(low - below));
	assert_false(faults(low));
	assert_false(faults(low + sn_stacks_usable(s) - 1));
	give_one(s, low);
}

TEST(cheap_guard_faults)
{
	struct stacks s;

	need_cheap_guards();
	make(&s, 0);
	expect_guard(&s);
	sn_stacks_free(&s);
}

TEST(mapping_guard_faults)
{
	struct stacks s;

	make(&s, 0);
	s.slabs.guards.kind = OS_GUARD_MAPPING;
	expect_guard(&s);
	sn_stacks_free(&s);
}

TEST(every_stack_of_a_batch_is_guarded)
{
	enum { COUNT = 200 };
	void         *low[COUNT];
	struct stacks s;

	make(&s, 0);
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	for (int i = 0; i < COUNT; i++) {
		if (!faults((char *)low[i] - 1))
			fail_msg("stack %d has no guard", i);
	}
	assert_true(sn_stacks_guarded(&s));
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

/* Locked memory cannot have cheap guards. The process may lock its memory after
 * the library has queried the system. */
TEST(guards_refused_later_are_made_otherwise)
{
	struct stacks s;
	struct stacks poor;
	void         *low[5];

	need_cheap_guards();
	if (mlockall(MCL_FUTURE | MCL_ONFAULT)) {
		print_message("may not lock memory here\n");
		skip();
	}
	make(&s, 0);
	expect_guard(&s);
	make(&poor, 0);
	poor.slabs.canaries = true;
	poor.slabs.guards.limit = 2;
	assert_int_equal(take_stacks(&poor, low, 5), 5);
	for (int i = 0; i < 5; i++)
		memset(low[i], 1, sn_stacks_usable(&poor));
	sn_stacks_give(&poor, low, 5);
	sn_stacks_free(&poor);
	sn_stacks_free(&s);
	munlockall();
}

/* The system refuses the guard of one stack in a batch. The others have their
 * guards, so they must not get canaries. */
TEST(one_refused_guard_is_one_canary)
{
	enum { COUNT = 64, REFUSED = 40 };
	void         *low[COUNT];
	struct stacks s;
	size_t        guarded = 0;

	need_cheap_guards();
	make(&s, 0);
	s.slabs.canaries = true;
	s.slabs.guards.limit = 0;
	s.slabs.guards.assured = 0;
	assert_int_equal(take_stacks(&s, low, STACK_BATCH), STACK_BATCH);
	qsort(low, STACK_BATCH, sizeof(*low), by_address);
	if (mlock2((char *)low[0] - s.slabs.page + REFUSED * s.slabs.pitch,
		   s.slabs.page, MLOCK_ONFAULT))
		print_message("may not lock memory here\n");
	assert_int_equal(
		take_stacks(&s, low + STACK_BATCH, COUNT - STACK_BATCH),
		COUNT - STACK_BATCH);
	for (int i = 0; i < COUNT; i++)
		guarded += faults((char *)low[i] - 1);
	assert_int_equal(guarded, count_guarded(&s, low, COUNT));
	assert_in_range(guarded, COUNT - 1, COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

/* --- given back to the system ------------------------------------------- */

enum { SOME = 300 };

static bool is_all_zeros(const char *low, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (low[i])
			return false;
	return true;
}

/* First return all except some, so that their slabs stay; then return all. */
static void return_and_take_again(struct stacks *s, void **low)
{
	assert_int_equal(take_stacks(s, low, SOME), SOME);
	for (int i = 0; i < SOME; i++)
		memset(low[i], 0x77, sn_stacks_usable(s));
	sn_stacks_return(s, low, SOME / 2);
	assert_int_equal(sn_stacks_count(s).made, SOME - SOME / 2);
	assert_int_equal(sn_stacks_count(s).trimmed, SOME / 2);
	for (int i = SOME / 2; i < SOME; i++)
		assert_false(is_all_zeros(low[i], sn_stacks_usable(s)));
	assert_int_equal(take_stacks(s, low, SOME / 2), SOME / 2);
	for (int i = 0; i < SOME / 2; i++)
		assert_true(is_all_zeros(low[i], sn_stacks_usable(s)));
}

TEST(returned_stacks_are_zeros_and_guarded)
{
	static void  *low[SOME];
	struct stacks s;

	for (int kind = 0; kind < 2; kind++) {
		if (kind == 0 && os_guard_kind() != OS_GUARD_CHEAP)
			continue;
		make(&s, 0);
		s.slabs.guards.kind = kind ? OS_GUARD_MAPPING : OS_GUARD_CHEAP;
		return_and_take_again(&s, low);
		for (int i = 0; i < SOME; i++)
			if (!faults((char *)low[i] - 1))
				fail_msg("stack %d has no guard", i);
		sn_stacks_give(&s, low, SOME);
		sn_stacks_free(&s);
	}
}

TEST(returned_canaries_are_written_anew)
{
	static void  *low[SOME];
	struct stacks s;

	make_by_mapping(&s, 0);
	return_and_take_again(&s, low);
	for (int i = 0; i < SOME; i++)
		sn_stack_check(&s, low[i]);
	sn_stacks_give(&s, low, SOME);
	sn_stacks_free(&s);
}

/* Symptom: after a trim, 1023 of 4087 unguarded stacks were left and the others
 * had moved: a late notify wrote into frames. */
TEST(trimmed_stacks_keep_address_and_guard)
{
	enum { GUARDS = 100 };
	static void  *low[SOME], *again[SOME];
	struct stacks s;

	make_by_mapping(&s, GUARDS);
	assert_int_equal(take_stacks(&s, low, SOME), SOME);
	qsort(low, SOME, sizeof(*low), by_address);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < SOME; i++)
			memset(low[i], 1, sn_stacks_usable(&s));
		sn_stacks_return(&s, low, SOME);
		assert_int_equal(sn_stacks_count(&s).unguarded, SOME - GUARDS);
		s.slabs.guards.limit = SOME;
		assert_int_equal(take_stacks(&s, again, SOME), SOME);
		assert_int_equal(sn_stacks_count(&s).unguarded, SOME - GUARDS);
		assert_int_equal(count_guarded(&s, again, SOME), GUARDS);
		qsort(again, SOME, sizeof(*again), by_address);
		assert_memory_equal(low, again, sizeof(low));
	}
	sn_stacks_return(&s, low, SOME);
	/* Late readers can still read it. */
	assert_true(is_all_zeros(low[0], sn_stacks_usable(&s)));
	sn_stacks_free(&s);
}

/* A slab without cheap guards has the same layout. */
TEST(a_stack_lies_where_it_does_with_guards_or_without)
{
	size_t        offset[2];
	struct stacks s;

	for (uint32_t guards = 0; guards < 2; guards++) {
		char *low;

		make_by_mapping(&s, guards);
		low = take_one(&s);
		offset[guards] = (uintptr_t)low % s.slabs.page;
		assert_ptr_equal(sn_slabs_link(&s.slabs, low),
				 low + sn_stacks_usable(&s));
		give_one(&s, low);
		sn_stacks_free(&s);
	}
	assert_int_equal(offset[0], 0);
	assert_int_equal(offset[1], 0);
}

/* --- mappings ----------------------------------------------------------- */

#ifdef SN_ASAN /* ASan touches an eighth of all this memory to clean it up */
#define MANY 30000
#else
#define MANY (sizeof(void *) == 8 ? 100000 : 10000) /* by address space */
#endif

TEST(cheap_guards_need_no_mappings)
{
	enum { COUNT = MANY, MOST_MAPPINGS = 50 };
	void        **low = calloc(COUNT, sizeof(*low));
	struct stacks s;
	size_t        before;
	size_t        after;

#ifdef SN_TSAN
	print_message("each mapping gets a shadow of its own\n");
	skip();
#endif
	need_cheap_guards();
	make(&s, 0);
	before = mappings_now();
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	after = mappings_now();
	assert_true(sn_stacks_guarded(&s));
	assert_true(after < before + MOST_MAPPINGS);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
	free(low);
}
