/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wait.h"

#include "sennit/fiber.h"

#include <errno.h>

/* A sleep is a wait whose deadline is the wake-up time. Only the timer and a
 * cancel can claim it. */
static int sleep_fiber_until(sennit_time wake)
{
	struct waiter *n = sn_waiter_own(wake);
	int            err;

	sn_wait_show(n, SENNIT_WAITS_FOR_TIME, NULL, wake);
	err = sn_wait(n, wake);
	return err == -ETIMEDOUT && (!n->scope || os_now() >= wake) ? 0 : err;
}

int sennit_sleep_until(sennit_time wake)
{
	int err = 0;

	if (wake > os_now()) {
		err = sleep_fiber_until(wake);
		NO_TAIL_CALL(err);
	} else {
		sn_check_deadline(wake);
	}
	return err;
}

int sennit_sleep(uint64_t nanoseconds)
{
	int err = 0;

	if (nanoseconds)
		err = sleep_fiber_until(sennit_after(nanoseconds));
	NO_TAIL_CALL(err);
	return err;
}
