/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_channel.c - misuse of channels, selects and waits for several
 * events. */
#include "testing/misuse.h"

static sennit_channel channel;
static sennit_event   event = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static sennit_event  *events[SENNIT_EVENT_WAIT_MAX + 1];
static size_t         which;

static void task_receives(void *argument)
{
	EXPECT(sennit_channel_receive(argument, NULL) == 0);
}

MISUSE_BY(destroying_a_channel_that_is_waited_in, "sennit_channel_destroy",
	  let_wait(o, task_receives, &channel),
	  sennit_channel_destroy(&channel));
MISUSE_BY(waiting_for_one_of_no_events, "sennit_event_wait_any",
	  (void)!sennit_event_wait_any(events, 0, NULL));
MISUSE_BY(waiting_until_one_of_no_events, "sennit_event_wait_any_until",
	  (void)!sennit_event_wait_any_until(events, 0, &which, 0));
MISUSE_BY(waiting_until_more_events_than_there_may_be,
	  "sennit_event_wait_all_until",
	  (void)!sennit_event_wait_all_until(events, SENNIT_EVENT_WAIT_MAX + 1,
					     0));

MISUSE_TEST(waiting_for_more_events_than_there_may_be, "sennit_event_wait_all")
{
	for (unsigned i = 0; i <= SENNIT_EVENT_WAIT_MAX; i++)
		events[i] = &event;
	sennit_event_set(&event);
	EXPECT(!sennit_event_wait_all(events, SENNIT_EVENT_WAIT_MAX));
	EXPECT(!sennit_event_wait_all(events, SENNIT_EVENT_WAIT_MAX + 1));
}

MISUSE_TEST(selecting_what_can_never_happen, "sennit_select")
{
	sennit_case nothing[] = { sennit_case_event(NULL),
				  sennit_case_receive(NULL, NULL) };

	(void)!sennit_select(nothing, 2, NULL);
}

MISUSE_TEST(selecting_of_more_cases_than_there_may_be, "sennit_select")
{
	sennit_case cases[SENNIT_SELECT_MAX + 1] = { sennit_case_event(NULL) };

	EXPECT(sennit_select_until(cases, SENNIT_SELECT_MAX, &which, 1) != 0);
	EXPECT(sennit_select_until(cases, SENNIT_SELECT_MAX + 1, &which, 0));
}
