/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - waiting for a group with a deadline, counting its members, setting
 * its deadline, and draining it. */
#include "calls.h"

static int wait_for(void *event)
{
	return sennit_event_wait(event);
}

static void show(sennit_scheduler *s)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_event open = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	(void)s;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, wait_for, &open) == 0);
	CHECK(sennit_group_members(&g) == 1);
	CHECK(sennit_group_wait_until(&g, sennit_after(1)) == -ETIMEDOUT);
	sennit_event_set(&open);
	CHECK(sennit_group_wait_until(&g, soon()) == 0);
	CHECK(sennit_group_spawn(&g, wait_for, &never) == 0);
	CHECK(!sennit_group_is_cancelled(&g));
	sennit_group_set_deadline(&g, sennit_now());
	CHECK(sennit_group_wait(&g) == -ETIMEDOUT);
	CHECK(sennit_deadline() == SENNIT_NEVER); /* in no group */

	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, wait_for, &never) == 0);
	CHECK(sennit_group_drain(&g, sennit_after(SENNIT_MILLISECOND)) ==
	      -ECANCELED);
}

int main(void)
{
	return run(show);
}
