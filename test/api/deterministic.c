/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.c - the calls in an ordinary library. test/explore tests them
 * in one that is built with SENNIT_DETERMINISTIC. */
#include "with_workers.h"

#include <errno.h>

static void must_not_run(void *ran)
{
	*(bool *)ran = true;
}

static void an_ordinary_library_says_that_it_explores_nothing(void **state)
{
	bool ran = false;

	(void)state;
	assert_false(sennit_is_deterministic());
	assert_int_equal(sennit_explore(1, 10, must_not_run, &ran), -ENOSYS);
	assert_false(ran);
}

static void an_ordinary_library_chooses_nothing_and_does_not_sleep(void **state)
{
	uint32_t word = 0;

	(void)state;
	assert_int_equal(sennit_choose(10), 0);
	assert_true(sennit_point_sleep(&word, 0, SENNIT_NEVER));
	sennit_point_wake(&word);
}

static void pass_a_point(void *passed)
{
	sennit_point();
	*(bool *)passed = true;
}

static void a_point_is_nothing_on_a_thread_and_in_a_task(void **state)
{
	bool passed = false;

	(void)state;
	sennit_point();
	in_a_task(pass_a_point, &passed);
	assert_true(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(an_ordinary_library_says_that_it_explores_nothing),
		ALONE(an_ordinary_library_chooses_nothing_and_does_not_sleep),
		WITH_WORKERS(a_point_is_nothing_on_a_thread_and_in_a_task),
	};

	return cmocka_run_group_tests_name("api/deterministic", tests, NULL,
					   NULL);
}
