/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - manual and auto events. */
#include "testing/with_workers.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(a_manual_event_stays_set_until_cleared)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	EXPECT(!sennit_event_is_set(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_set(&e);
	EXPECT(sennit_event_is_set(&e));
	EXPECT(!sennit_event_wait(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == 0);
	EXPECT(sennit_event_is_set(&e));
	sennit_event_clear(&e);
	EXPECT(!sennit_event_is_set(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_destroy(&e);
}

TEST_IN_EACH_PLACE(an_auto_event_lets_one_through_and_counts_once)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);

	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_set(&e);
	sennit_event_set(&e);
	EXPECT(sennit_event_is_set(&e));
	EXPECT(sennit_event_is_set(&e));
	EXPECT(!sennit_event_wait(&e));
	EXPECT(!sennit_event_is_set(&e));
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_set(&e);
	sennit_event_clear(&e);
	EXPECT(sennit_event_wait_until(&e, 0) == -ETIMEDOUT);
	sennit_event_destroy(&e);
}

TEST_IN_EACH_PLACE(all_zero_is_manual_and_not_set)
{
	sennit_event zero, set;

	memset(&zero, 0, sizeof(zero));
	EXPECT(!sennit_event_is_set(&zero));
	sennit_event_set(&zero);
	EXPECT(!sennit_event_wait(&zero));
	EXPECT(sennit_event_is_set(&zero)); /* zeros are a manual event */
	sennit_event_init(&set, SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	EXPECT(sennit_event_is_set(&set));
	EXPECT(sennit_event_wait_until(&set, SENNIT_NEVER) == 0);
	EXPECT(!sennit_event_is_set(&set));
	sennit_event_init(&set, SENNIT_EVENT_MANUAL | SENNIT_EVENT_SET);
	EXPECT(!sennit_event_wait(&set));
	EXPECT(sennit_event_is_set(&set));
}
