/* SPDX-License-Identifier: Apache-2.0 */
/* kept_slab.c - the slab that outlives its scheduler: who gets it, and when it
 * goes back to the system. */
#include "stacks.h"
#include "../child.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_mapped(void *low)
{
	const uintptr_t page = os_page_size();
	unsigned char   resident;

	return !mincore((void *)((uintptr_t)low & ~(page - 1)), 1, &resident);
}

static void begin(struct stacks *s)
{
	assert_int_equal(sn_stacks_init(s, &sn_memory_libc, SIZE, GUARD, 0), 0);
}

/* The stack of one life of a scheduler. */
static void *live(size_t size)
{
	struct stacks s;
	void         *low;

	assert_int_equal(sn_stacks_init(&s, &sn_memory_libc, size, GUARD, 0),
			 0);
	low = take_one(&s);
	memset(low, 0x77, size / 2);
	give_one(&s, low);
	sn_stacks_free(&s);
	return low;
}

static void the_next_scheduler_gets_it(void **state)
{
	void *low = live(SIZE);

	(void)state;
	assert_true(is_mapped(low));
	assert_ptr_equal(live(SIZE), low);
}

static void two_at_once_share_nothing(void **state)
{
	struct stacks one, other;
	void         *low = live(SIZE);
	void         *mine, *theirs;

	(void)state;
	begin(&one);
	begin(&other);
	mine = take_one(&one);
	theirs = take_one(&other);
	assert_ptr_equal(mine, low);
	assert_ptr_not_equal(theirs, low);
	assert_false(sn_stacks_contain(&one, (uintptr_t)theirs));
	assert_false(sn_stacks_contain(&other, (uintptr_t)mine));
	give_one(&one, mine);
	give_one(&other, theirs);
	sn_stacks_free(&one);
	sn_stacks_free(&other);
}

static void another_size_takes_its_place(void **state)
{
	void *low = live(SIZE);
	void *other = live(2 * SIZE);

	(void)state;
	assert_false(is_mapped(low));
	assert_true(is_mapped(other));
}

static void dropped_it_is_unmapped(void **state)
{
	void *low = live(SIZE);

	(void)state;
	sn_kept_slab_drop();
	assert_false(is_mapped(low));
	sn_kept_slab_drop(); /* there is none */
}

static void a_large_one_is_not_kept(void **state)
{
	void *low = live(KEPT_SLAB_MOST);

	(void)state;
	assert_false(is_mapped(low));
}

/* --- guards ------------------------------------------------------------- */

/* Whether a write of a child process at the address ends it. */
static bool faults(volatile char *at)
{
	int   status;
	pid_t child = begin_child();

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*at = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static void assert_guarded(void *low)
{
	assert_false(faults(low));
	assert_true(faults((char *)low - 1));
	assert_true(faults((char *)low - GUARD));
}

static void guards_stay(void **state)
{
	void         *low = live(SIZE);
	struct stacks s;

	(void)state;
	begin(&s);
	assert_ptr_equal(take_one(&s), low);
	assert_guarded(low);
	give_one(&s, low);
	sn_stacks_free(&s);
}

/* Of the same pitch, so that the slab would fit but for its guards. */
static void another_guard_is_another_slab(void **state)
{
	const size_t  page = os_page_size();
	struct stacks s;
	void         *low = live(SIZE);
	char         *other;

	(void)state;
	assert_int_equal(sn_stacks_init(&s, &sn_memory_libc, SIZE + page,
					GUARD - page, 0),
			 0);
	other = take_one(&s);
	assert_ptr_not_equal(other + page, low); /* the same stack, if kept */
	other[0] = 1;
	give_one(&s, other);
	sn_stacks_free(&s);
}

/* A worker that had nothing to do never touched its first stack. */
static void a_stack_that_was_only_set_aside_is_guarded(void **state)
{
	struct stacks s;
	void         *bottom;

	(void)state;
	sn_kept_slab_drop();
	begin(&s);
	bottom = sn_stacks_set_aside(&s);
	assert_non_null(bottom);
	sn_stacks_drop_aside(&s);
	sn_stacks_free(&s);

	begin(&s);
	assert_ptr_equal(take_one(&s), (char *)bottom + GUARD);
	assert_guarded((char *)bottom + GUARD);
	give_one(&s, (char *)bottom + GUARD);
	sn_stacks_free(&s);
}

static void set_aside_again_it_has_one_guard(void **state)
{
	struct stacks s;
	void         *low = live(SIZE);
	void         *bottom;

	(void)state;
	begin(&s);
	bottom = sn_stacks_set_aside(&s);
	assert_ptr_equal(bottom, (char *)low - GUARD);
	assert_ptr_equal(sn_stacks_take_aside(&s, bottom), low);
	assert_true(sn_stacks_guarded(&s));
	assert_guarded(low);
	give_one(&s, low);
	sn_stacks_free(&s);
}

/* --- fork --------------------------------------------------------------- */

static void the_child_of_a_fork_has_its_own(void **state)
{
	char *low = live(SIZE);
	int   status;
	pid_t child = begin_child();

	(void)state;
	if (!child) {
		sn_kept_slab_fork();
		_exit(live(SIZE) == low ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_ptr_equal(live(SIZE), low);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_scheduler_gets_it),
		cmocka_unit_test(two_at_once_share_nothing),
		cmocka_unit_test(another_size_takes_its_place),
		cmocka_unit_test(dropped_it_is_unmapped),
		cmocka_unit_test(a_large_one_is_not_kept),
		cmocka_unit_test(guards_stay),
		cmocka_unit_test(another_guard_is_another_slab),
		cmocka_unit_test(a_stack_that_was_only_set_aside_is_guarded),
		cmocka_unit_test(set_aside_again_it_has_one_guard),
		cmocka_unit_test(the_child_of_a_fork_has_its_own),
	};

	return cmocka_run_group_tests_name("unit/kept_slab", tests, NULL, NULL);
}
