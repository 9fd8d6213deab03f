/* SPDX-License-Identifier: Apache-2.0 */
/* 07_deadline.c - a deadline for a call, a deadline for a group, a clock that
 * does not drift. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

static sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

/* Knows of no deadline. Its group has one. */
static int wait_twice(void *unused)
{
	int err = sennit_event_wait_until(&never, SENNIT_NEVER);

	(void)unused;
	return err ? err : sennit_event_wait_until(&never, SENNIT_NEVER);
}

static int within(uint64_t patience, sennit_member_fn *run, void *argument)
{
	sennit_group g;
	int          err, ended;

	sennit_group_init(&g, sennit_after(patience), 0);
	err = sennit_group_spawn(&g, run, argument);
	ended = sennit_group_wait(&g);
	return err ? err : ended;
}

/* Each tick is a period after the last one, not after the end of its work. */
static int tick(int ticks)
{
	sennit_time next = sennit_now();
	int         early = 0;

	for (int i = 0; i < ticks; i++) {
		next += SENNIT_MILLISECOND;
		if (sennit_sleep_until(next))
			return -1;
		early += sennit_now() < next;
	}
	return early;
}

static int program(void *unused)
{
	int call, group, early;

	(void)unused;
	call = sennit_event_wait_until(&never,
				       sennit_after(SENNIT_MILLISECOND));
	printf("the call: %s\n", sennit_strerror(call));
	group = within(SENNIT_MILLISECOND, wait_twice, NULL);
	printf("the group: %s\n", sennit_strerror(group));
	early = tick(5);
	printf("5 ticks, %d early\n", early);
	return call == -ETIMEDOUT && group == -ETIMEDOUT && !early ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
