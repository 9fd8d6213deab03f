/* SPDX-License-Identifier: Apache-2.0 */
/* deadlines.c - every wait has a deadline, which is a point in time and not a
 * duration.
 *
 * A deadline of 0 only tests, SENNIT_NEVER waits for ever, and one deadline
 * serves several waits in a row.
 */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

static sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static sennit_event soon = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

static void set_soon(void *argument)
{
	(void)argument;
	sennit_sleep(10 * SENNIT_MILLISECOND);
	sennit_event_set(&soon);
}

/* Returns the number of waits with the expected result. */
static int waits(void)
{
	sennit_time deadline = sennit_after(50 * SENNIT_MILLISECOND);
	int         right = 0;

	right += sennit_event_wait_until(&never, 0) == -ETIMEDOUT;
	right += sennit_now() < deadline;
	right += sennit_event_wait_until(&soon, SENNIT_NEVER) == 0;
	right += sennit_event_wait_until(&never, deadline) == -ETIMEDOUT;
	right += sennit_now() >= deadline;
	right += sennit_event_wait_until(&soon, deadline) == 0;
	return right;
}

static int program(void *unused)
{
	int right;

	(void)unused;
	if (sennit_schedule(set_soon, NULL))
		return 1;
	right = waits();
	printf("%d of 6 as expected\n", right);
	return right == 6 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
