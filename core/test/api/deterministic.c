/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.c - the calls in an ordinary library. core/test/explore tests
 * them in one that is built with SENNIT_DETERMINISTIC. */
#include "testing/with_workers.h"
#include "sennit/deterministic.h"

#include <errno.h>

static void must_not_run(void *ran)
{
	*(bool *)ran = true;
}

TEST_ALONE(an_ordinary_library_says_that_it_explores_nothing)
{
	bool ran = false;

	assert_false(sennit_explore_is_possible());
	assert_int_equal(sennit_explore(1, 10, must_not_run, &ran), -ENOSYS);
	assert_false(ran);
}

TEST_ALONE(an_ordinary_library_chooses_nothing_and_does_not_sleep)
{
	uint32_t word = 0;

	assert_int_equal(sennit_explore_choose(10), 0);
	assert_true(sennit_explore_sleep(&word, 0, SENNIT_NEVER));
	sennit_explore_wake(&word);
}

static void pass_a_point(void *passed)
{
	sennit_explore_point();
	*(bool *)passed = true;
}

TEST_WITH_WORKERS(a_point_is_nothing_on_a_thread_and_in_a_task)
{
	bool passed = false;

	sennit_explore_point();
	in_a_task(pass_a_point, &passed);
	assert_true(passed);
}
