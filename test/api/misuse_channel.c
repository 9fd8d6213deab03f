/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_channel.c - misuse of channels, selects and waits for several
 * events. */
#include "misuse.h"

static void task_receives(void *argument)
{
	EXPECT(sennit_channel_receive(argument, NULL) == 0);
}

static void commit_destroy_channel(const struct offence *o)
{
	sennit_channel c = SENNIT_CHANNEL_INIT(0);

	must_schedule(task_receives, &c);
	EXPECT_SOON(fibers_of(o->s) == 1);
	sennit_channel_destroy(&c);
}

TEST_WITH_COUNTS(destroying_a_channel_that_is_waited_in)
{
	assert_misuse(w, "sennit_channel_destroy", commit_destroy_channel);
}

static void commit_wait_for_none(const struct offence *o)
{
	sennit_event *none = NULL;

	(void)o;
	(void)!sennit_event_wait_any(&none, 0);
}

static void commit_wait_for_none_until(const struct offence *o)
{
	sennit_event *none = NULL;
	size_t        which;

	(void)o;
	(void)!sennit_event_wait_any_until(&none, 0, &which, 0);
}

TEST_WITH_COUNTS(waiting_for_one_of_no_events)
{
	assert_misuse(w, "sennit_event_wait_any", commit_wait_for_none);
	assert_misuse(w, "sennit_event_wait_any_until",
		      commit_wait_for_none_until);
}

static void commit_wait_for_too_many(const struct offence *o)
{
	sennit_event  e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_event *many[SENNIT_EVENT_WAIT_MAX + 1];
	unsigned      i;

	(void)o;
	for (i = 0; i <= SENNIT_EVENT_WAIT_MAX; i++)
		many[i] = &e;
	sennit_event_set(&e);
	EXPECT(!sennit_event_wait_all(many, SENNIT_EVENT_WAIT_MAX));
	EXPECT(!sennit_event_wait_all(many, SENNIT_EVENT_WAIT_MAX + 1));
}

static void commit_wait_for_too_many_until(const struct offence *o)
{
	sennit_event *many[SENNIT_EVENT_WAIT_MAX + 1] = { NULL };

	(void)o;
	(void)!sennit_event_wait_all_until(many, SENNIT_EVENT_WAIT_MAX + 1, 0);
}

TEST_WITH_COUNTS(waiting_for_more_events_than_there_may_be)
{
	assert_misuse(w, "sennit_event_wait_all", commit_wait_for_too_many);
	assert_misuse(w, "sennit_event_wait_all_until",
		      commit_wait_for_too_many_until);
}

static void commit_select_of_nothing(const struct offence *o)
{
	sennit_case nothing[] = { sennit_case_event(NULL),
				  sennit_case_receive(NULL, NULL) };

	(void)o;
	(void)!sennit_select(nothing, 2);
}

TEST_WITH_COUNTS(selecting_what_can_never_happen)
{
	assert_misuse(w, "sennit_select", commit_select_of_nothing);
}

static void commit_select_of_too_many(const struct offence *o)
{
	sennit_case cases[SENNIT_SELECT_MAX + 1] = { sennit_case_event(NULL) };
	size_t      which;

	(void)o;
	EXPECT(sennit_select_until(cases, SENNIT_SELECT_MAX, &which, 1) != 0);
	EXPECT(sennit_select_until(cases, SENNIT_SELECT_MAX + 1, &which, 0));
}

TEST_WITH_COUNTS(selecting_of_more_cases_than_there_may_be)
{
	assert_misuse(w, "sennit_select", commit_select_of_too_many);
}
