/* SPDX-License-Identifier: Apache-2.0 */
/* future.c - one future: set, wait, get, set by a task. */
#include "testing/with_workers.h"

#include <errno.h>

static int numbers[4];

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(a_value_stays_once_set)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = &numbers[1];

	EXPECT(!sennit_future_is_set(&f));
	EXPECT(sennit_future_wait_until(&f, 0) == -ETIMEDOUT);
	EXPECT(sennit_future_get_until(&f, &value, 0) == -ETIMEDOUT);
	EXPECT(value == &numbers[1]);
	sennit_future_set(&f, &numbers[2]);
	EXPECT(sennit_future_is_set(&f));
	EXPECT(sennit_future_wait_until(&f, 0) == 0);
	EXPECT(!sennit_future_wait(&f));
	EXPECT(sennit_future_get_until(&f, &value, 0) == 0);
	EXPECT(value == &numbers[2]);
	value = NULL;
	EXPECT(sennit_future_get(&f, &value) == 0);
	EXPECT(value == &numbers[2]);
	EXPECT(sennit_future_get(&f, NULL) == 0);
	sennit_future_destroy(&f);
}

TEST_IN_EACH_PLACE(an_error_is_an_outcome)
{
	sennit_future f;
	void         *value = &numbers[1];

	memset(&f, 0xa5, sizeof(f));
	sennit_future_init(&f);
	sennit_future_set_error(&f, -EPIPE);
	EXPECT(sennit_future_is_set(&f));
	EXPECT(sennit_future_wait_until(&f, 0) == 0);
	EXPECT(sennit_future_get_until(&f, &value, 0) == -EPIPE);
	EXPECT(sennit_future_get(&f, &value) == -EPIPE);
	EXPECT(sennit_future_get(&f, NULL) == -EPIPE);
	EXPECT(value == &numbers[1]);
	sennit_future_init(&f);
	EXPECT(!sennit_future_is_set(&f));
	sennit_future_set(&f, NULL);
	EXPECT(sennit_future_get(&f, &value) == 0);
	EXPECT(!value);
}

TEST_IN_EACH_PLACE(the_second_set_changes_nothing)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value;

	EXPECT(sennit_future_try_set(&f, &numbers[0]) == 0);
	EXPECT(sennit_future_try_set(&f, &numbers[1]) == -EALREADY);
	EXPECT(sennit_future_try_set_error(&f, -EIO) == -EALREADY);
	EXPECT(sennit_future_get(&f, &value) == 0);
	EXPECT(value == &numbers[0]);
	sennit_future_init(&f);
	EXPECT(sennit_future_try_set_error(&f, -EIO) == 0);
	EXPECT(sennit_future_try_set(&f, &numbers[1]) == -EALREADY);
	EXPECT(sennit_future_get(&f, &value) == -EIO);
}

/* --- set by a task ------------------------------------------------------ */

static int fib(void *argument, void **value)
{
	const uintptr_t n = (uintptr_t)argument;
	sennit_future   left = SENNIT_FUTURE_INIT;
	void           *a, *b;

	EXPECT(!*value);
	*value = argument;
	if (n < 2)
		return 0;
	EXPECT(sennit_future_spawn(&left, fib, (void *)(n - 1)) == 0);
	b = NULL;
	EXPECT(fib((void *)(n - 2), &b) == 0);
	EXPECT(sennit_future_get(&left, &a) == 0);
	*value = (void *)((uintptr_t)a + (uintptr_t)b);
	return 0;
}

TEST_WITH_WORKERS(what_a_task_stores_is_the_value)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = NULL;

	assert_int_equal(sennit_future_spawn(&f, fib, (void *)12), 0);
	assert_int_equal(sennit_future_get(&f, &value), 0);
	assert_int_equal((uintptr_t)value, 144);
}

static int give_up(void *argument, void **value)
{
	*value = argument;
	return -EPIPE;
}

TEST_WITH_WORKERS(what_a_task_returns_is_the_error)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = &numbers[1];

	assert_int_equal(sennit_future_spawn(&f, give_up, numbers), 0);
	assert_int_equal(sennit_future_get(&f, &value), -EPIPE);
	assert_ptr_equal(value, &numbers[1]);
}

TEST_WITH_WORKERS(a_task_without_a_function_is_refused)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	assert_int_equal(sennit_future_spawn(&f, NULL, NULL), -EINVAL);
	assert_false(sennit_future_is_set(&f));
}
