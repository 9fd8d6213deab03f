/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - the first caller runs it, and what fails is not done. */
#include "testing/with_workers.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

static void count(void *argument)
{
	++*(unsigned *)argument;
}

static int fail_then_count(void *argument)
{
	unsigned *n = argument;

	return ++*n < 3 ? -EAGAIN : 0;
}

TEST_IN_EACH_PLACE(the_first_caller_does_it_no_other)
{
	sennit_once o = SENNIT_ONCE_INIT;
	unsigned    n = 0;

	EXPECT(!sennit_once_is_done(&o));
	sennit_once_call(&o, count, &n);
	EXPECT(sennit_once_is_done(&o));
	sennit_once_call(&o, count, &n);
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 0) == 0);
	EXPECT(n == 1);
	sennit_once_destroy(&o);
	sennit_once_init(&o);
	EXPECT(!sennit_once_is_done(&o));
	sennit_once_call(&o, count, &n);
	EXPECT(n == 2);
}

TEST_IN_EACH_PLACE(what_fails_is_not_done)
{
	sennit_once o;
	unsigned    n = 0;

	memset(&o, 0, sizeof(o));
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n,
					 SENNIT_NEVER) == -EAGAIN);
	EXPECT(!sennit_once_is_done(&o));
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 1) ==
	       -EAGAIN);
	sennit_once_destroy(&o);
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 0) == 0);
	EXPECT(sennit_once_is_done(&o));
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 0) == 0);
	EXPECT(n == 3);
}
