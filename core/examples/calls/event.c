/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - wait for any or all of several events, and share one. */
#include "calls.h"

static sennit_event  data, quit;
static sennit_event *both[] = { &data, &quit };

static int set_both(void *unused)
{
	(void)unused;
	sennit_event_set(&data);
	sennit_event_set(&quit);
	return 0;
}

static void wait_for_several(void)
{
	size_t       which = 2;
	sennit_group g;

	sennit_event_init(&data, SENNIT_EVENT_MANUAL);
	sennit_event_init(&quit, SENNIT_EVENT_MANUAL | SENNIT_EVENT_SET);

	/* quit is set already. */
	CHECK(sennit_event_wait_any(both, 2, &which) == 0);
	CHECK(which == 1);
	CHECK(sennit_event_wait_any_until(both, 2, &which, 0) == 0);
	CHECK(which == 1);
	sennit_event_clear(&quit);
	CHECK(!sennit_event_is_set(&quit));
	CHECK(sennit_event_wait_all_until(both, 2, 0) == -ETIMEDOUT);

	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, set_both, NULL) == 0);
	CHECK(!sennit_event_wait_all(both, 2));
	CHECK(sennit_group_wait(&g) == 0);
	sennit_event_destroy(&data);
	sennit_event_destroy(&quit);
}

static void show(sennit_scheduler *s)
{
	(void)s;
	wait_for_several();
}

int main(void)
{
	return run(show);
}
