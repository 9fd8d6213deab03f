/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_future.c - misuse of futures. */
#include "testing/misuse.h"

#include <errno.h>

static sennit_future future;

/* --- setting ------------------------------------------------------------ */

MISUSE_BY(setting_twice, "sennit_future_set", sennit_future_set(&future, NULL),
	  sennit_future_set(&future, NULL));
MISUSE_BY(setting_an_error_after_a_value, "sennit_future_set_error",
	  sennit_future_set(&future, NULL),
	  sennit_future_set_error(&future, -EPIPE));
MISUSE_BY(an_error_that_is_positive, "sennit_future_set_error",
	  sennit_future_set_error(&future, EPIPE));
MISUSE_BY(an_error_that_is_none, "sennit_future_try_set_error",
	  (void)!sennit_future_try_set_error(&future, 0));

/* --- async -------------------------------------------------------------- */

static int return_it(void *number, void **value)
{
	return number ? *(int *)number : 0;
}

MISUSE_BY(a_function_that_returns_a_positive_number, "sennit_future_spawn",
	  EXPECT(!sennit_future_spawn(&future, return_it, &(int){ 1 })),
	  EXPECT(!sennit_future_wait(&future)));
MISUSE_BY(a_task_for_a_future_that_is_set, "sennit_future_spawn",
	  sennit_future_set(&future, NULL),
	  (void)!sennit_future_spawn(&future, return_it, NULL));
MISUSE_BY(a_task_without_a_scheduler, "sennit_future_spawn",
	  sennit_thread_unbind(),
	  (void)!sennit_future_spawn(&future, return_it, NULL));

/* --- continuations ------------------------------------------------------ */

static void do_nothing(void *argument, void *value, int error)
{
}

static sennit_continuation nothing = { .run = do_nothing };

MISUSE_BY(a_continuation_without_a_function, "sennit_future_then",
	  nothing.run = NULL, sennit_future_then(&future, &nothing));
MISUSE_BY(a_continuation_with_unknown_flags, "sennit_future_then",
	  nothing.flags = 2, sennit_future_then(&future, &nothing));
MISUSE_BY(a_continuation_both_inline_and_elsewhere, "sennit_future_then",
	  nothing.scheduler = o->s, nothing.flags = SENNIT_CONTINUATION_INLINE,
	  sennit_future_then(&future, &nothing));

/* --- destroying --------------------------------------------------------- */

static void task_waits(void *argument)
{
	EXPECT(!sennit_future_wait(argument));
}

MISUSE_BY(destroying_a_future_that_is_waited_for, "sennit_future_destroy",
	  let_wait(o, task_waits, &future), sennit_future_destroy(&future));
MISUSE_BY(destroying_a_future_with_a_continuation, "sennit_future_destroy",
	  sennit_future_then(&future, &nothing),
	  sennit_future_destroy(&future));

/* --- several ------------------------------------------------------------ */

MISUSE_BY(waiting_for_any_of_none, "sennit_future_wait_any",
	  (void)!sennit_future_wait_any(NULL, 0, NULL));

MISUSE_TEST(waiting_for_any_of_too_many, "sennit_future_wait_any_until")
{
	sennit_future *list[SENNIT_FUTURE_WAIT_MAX + 1];
	size_t         which;

	for (which = 0; which <= SENNIT_FUTURE_WAIT_MAX; which++)
		list[which] = &future;
	(void)!sennit_future_wait_any_until(list, SENNIT_FUTURE_WAIT_MAX + 1,
					    &which, 0);
}
