/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_future.c - misuse of futures. */
#include "misuse.h"

#include <errno.h>

/* --- setting ------------------------------------------------------------ */

static void commit_set_twice(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	sennit_future_set(&f, NULL);
	sennit_future_set(&f, NULL);
}

TEST_WITH_COUNTS(setting_twice)
{
	assert_misuse(w, "sennit_future_set", commit_set_twice);
}

static void commit_error_after_set(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	sennit_future_set(&f, NULL);
	sennit_future_set_error(&f, -EPIPE);
}

TEST_WITH_COUNTS(setting_an_error_after_a_value)
{
	assert_misuse(w, "sennit_future_set_error", commit_error_after_set);
}

static void commit_positive_error(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	sennit_future_set_error(&f, EPIPE);
}

TEST_WITH_COUNTS(an_error_that_is_positive)
{
	assert_misuse(w, "sennit_future_set_error", commit_positive_error);
}

static void commit_try_no_error(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	(void)!sennit_future_try_set_error(&f, 0);
}

TEST_WITH_COUNTS(an_error_that_is_none)
{
	assert_misuse(w, "sennit_future_try_set_error", commit_try_no_error);
}

/* --- async -------------------------------------------------------------- */

static int return_one(void *argument, void **value)
{
	(void)argument;
	(void)value;
	return 1;
}

static int return_zero(void *argument, void **value)
{
	(void)argument;
	(void)value;
	return 0;
}

static void commit_async_positive(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	EXPECT(sennit_future_spawn(&f, return_one, NULL) == 0);
	EXPECT(!sennit_future_wait(&f));
}

TEST_WITH_COUNTS(a_function_that_returns_a_positive_number)
{
	assert_misuse(w, "sennit_future_spawn", commit_async_positive);
}

static void commit_async_set(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	sennit_future_set(&f, NULL);
	(void)!sennit_future_spawn(&f, return_zero, NULL);
}

TEST_WITH_COUNTS(a_task_for_a_future_that_is_set)
{
	assert_misuse(w, "sennit_future_spawn", commit_async_set);
}

static void commit_async_unbound(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	(void)o;
	sennit_unbind();
	(void)!sennit_future_spawn(&f, return_zero, NULL);
}

TEST_WITH_COUNTS(a_task_without_a_scheduler)
{
	assert_misuse(w, "sennit_future_spawn", commit_async_unbound);
}

/* --- continuations ------------------------------------------------------ */

static void do_nothing(void *argument, void *value, int error)
{
	(void)argument;
	(void)value;
	(void)error;
}

static void commit_then_nothing(const struct offence *o)
{
	sennit_future       f = SENNIT_FUTURE_INIT;
	sennit_continuation c = { .run = NULL };

	(void)o;
	sennit_future_then(&f, &c);
}

TEST_WITH_COUNTS(a_continuation_without_a_function)
{
	assert_misuse(w, "sennit_future_then", commit_then_nothing);
}

static void commit_then_flags(const struct offence *o)
{
	sennit_future       f = SENNIT_FUTURE_INIT;
	sennit_continuation c = { .run = do_nothing, .flags = 2 };

	(void)o;
	sennit_future_then(&f, &c);
}

TEST_WITH_COUNTS(a_continuation_with_unknown_flags)
{
	assert_misuse(w, "sennit_future_then", commit_then_flags);
}

static void commit_then_inline_elsewhere(const struct offence *o)
{
	sennit_future       f = SENNIT_FUTURE_INIT;
	sennit_continuation c = { .run = do_nothing,
				  .scheduler = o->s,
				  .flags = SENNIT_CONTINUATION_INLINE };

	sennit_future_then(&f, &c);
}

TEST_WITH_COUNTS(a_continuation_both_inline_and_elsewhere)
{
	assert_misuse(w, "sennit_future_then", commit_then_inline_elsewhere);
}

/* --- destroying --------------------------------------------------------- */

static void task_waits(void *argument)
{
	EXPECT(!sennit_future_wait(argument));
}

static void commit_destroy_waited_for(const struct offence *o)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	must_schedule(task_waits, &f);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_future_destroy(&f);
}

TEST_WITH_COUNTS(destroying_a_future_that_is_waited_for)
{
	assert_misuse(w, "sennit_future_destroy", commit_destroy_waited_for);
}

static void commit_destroy_continued(const struct offence *o)
{
	sennit_future       f = SENNIT_FUTURE_INIT;
	sennit_continuation c = { .run = do_nothing };

	(void)o;
	sennit_future_then(&f, &c);
	sennit_future_destroy(&f);
}

TEST_WITH_COUNTS(destroying_a_future_with_a_continuation)
{
	assert_misuse(w, "sennit_future_destroy", commit_destroy_continued);
}

/* --- several ------------------------------------------------------------ */

static void commit_any_of_none(const struct offence *o)
{
	(void)o;
	(void)!sennit_future_wait_any(NULL, 0);
}

TEST_WITH_COUNTS(waiting_for_any_of_none)
{
	assert_misuse(w, "sennit_future_wait_any", commit_any_of_none);
}

static void commit_any_of_too_many(const struct offence *o)
{
	sennit_future  f = SENNIT_FUTURE_INIT;
	sennit_future *list[SENNIT_FUTURE_WAIT_MAX + 1];
	size_t         which;

	(void)o;
	for (which = 0; which <= SENNIT_FUTURE_WAIT_MAX; which++)
		list[which] = &f;
	(void)!sennit_future_wait_any_until(list, SENNIT_FUTURE_WAIT_MAX + 1,
					    &which, 0);
}

TEST_WITH_COUNTS(waiting_for_any_of_too_many)
{
	assert_misuse(w, "sennit_future_wait_any_until",
		      commit_any_of_too_many);
}
