/* SPDX-License-Identifier: Apache-2.0 */
/* kept_slab.c - the slab that outlives its scheduler: which scheduler gets it,
 * and when it is unmapped. */
#include "os/os.h"
#include "stacks.h"
#include "testing/child.h"

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

TEST(the_next_scheduler_gets_it)
{
	void *low = live(SIZE);

	assert_true(is_mapped(low));
	assert_ptr_equal(live(SIZE), low);
}

TEST(two_at_once_share_nothing)
{
	struct stacks one, other;
	void         *low = live(SIZE);
	void         *mine, *theirs;

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

TEST(another_size_takes_its_place)
{
	void *low = live(SIZE);
	void *other = live(2 * SIZE);

	assert_false(is_mapped(low));
	assert_true(is_mapped(other));
}

TEST(dropped_it_is_unmapped)
{
	void *low = live(SIZE);

	sn_kept_slab_drop();
	assert_false(is_mapped(low));
	sn_kept_slab_drop(); /* there is none */
}

TEST(a_large_one_is_not_kept)
{
	void *low = live(KEPT_SLAB_MOST);

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

TEST(guards_stay)
{
	void         *low = live(SIZE);
	struct stacks s;

	begin(&s);
	assert_ptr_equal(take_one(&s), low);
	assert_guarded(low);
	give_one(&s, low);
	sn_stacks_free(&s);
}

/* Of the same pitch, so that the slab would fit but for its guards. */
TEST(another_guard_is_another_slab)
{
	const size_t  page = os_page_size();
	struct stacks s;
	void         *low = live(SIZE);
	char         *other;

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
TEST(a_stack_that_was_only_set_aside_is_guarded)
{
	struct stacks s;
	void         *bottom;

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

TEST(set_aside_again_it_has_one_guard)
{
	struct stacks s;
	void         *low = live(SIZE);
	void         *bottom;

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

TEST(the_child_of_a_fork_has_its_own)
{
	char *low = live(SIZE);
	int   status;
	pid_t child = begin_child();

	if (!child) {
		sn_kept_slab_fork();
		_exit(live(SIZE) == low ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_ptr_equal(live(SIZE), low);
}
