/* SPDX-License-Identifier: Apache-2.0 */
/* stack_canary.c - stacks that have canaries instead of guards: a lost one is
 * found, and the number of mappings is limited. */
#include "os/os.h"
#include "stacks.h"
#include "testing/child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Whether giving a stack back aborts after `below` bytes below the stack were
 * written. */
static bool overflow_is_found(size_t below)
{
	const pid_t   child = begin_child();
	struct stacks s;
	char         *low;
	int           status;

	if (!child) {
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		make_by_mapping(&s, 0);
		low = take_one(&s);
		if (below)
			low[-(ptrdiff_t)below] ^= 1;
		give_one(&s, low);
		_exit(0);
	}
	status = await_child(child);
	if (WIFEXITED(status))
		return WEXITSTATUS(status) != 0;
	assert_int_equal(WTERMSIG(status), SIGABRT);
	return true;
}

TEST(lost_canary_is_found)
{
	assert_false(overflow_is_found(0));
	assert_true(overflow_is_found(1));
	assert_true(overflow_is_found(100));
	assert_true(overflow_is_found(256));
}

TEST(unguarded_stacks_work_otherwise)
{
	enum { COUNT = 100 };
	void         *low[COUNT];
	struct stacks s;

	make_by_mapping(&s, 0);
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	assert_false(sn_stacks_guarded(&s));
	for (int i = 0; i < COUNT; i++)
		memset(low[i], 0xaa, sn_stacks_usable(&s));
	for (int i = 0; i < COUNT; i++)
		sn_stack_check(&s, low[i]);
	sn_stacks_give(&s, low, COUNT);
	assert_int_equal(take_stacks(&s, low, COUNT), COUNT);
	assert_int_equal(sn_stacks_count(&s).made, COUNT);
	sn_stacks_give(&s, low, COUNT);
	sn_stacks_free(&s);
}

TEST(guards_that_split_mappings_are_limited)
{
	void         *low[10];
	void         *others[10];
	struct stacks s;
	struct stacks other;

	for (int round = 0; round < 2; round++) {
		make_by_mapping(&s, 12);
		make_by_mapping(&other, 12);
		assert_int_equal(take_stacks(&s, low, 10), 10);
		assert_int_equal(take_stacks(&other, others, 10), 10);
		assert_int_equal(count_guarded(&s, low, 10), 10);
		assert_int_equal(count_guarded(&other, others, 10), 2);
		assert_true(sn_stacks_guarded(&s));
		assert_false(sn_stacks_guarded(&other));
		sn_stacks_give(&s, low, 10);
		sn_stacks_give(&other, others, 10);
		sn_stacks_free(&s);
		sn_stacks_free(&other);
	}
}
