/* SPDX-License-Identifier: Apache-2.0 */
/* report_groups.c - reports of waits that a group's deadline ends. */
#include "../words.h"
#include "with_workers.h"

/* Members wait for an event, in a group whose deadline does not come. */
struct enclosed {
	sennit_scheduler *s;
	sennit_event      go;
	sennit_time       deadline;
	uint32_t          flags;
	bool              nested, uncancelled;
	sennit_wait_group done;
};

static int wait_enclosed(void *argument)
{
	struct enclosed *c = argument;

	EXPECT(!sennit_event_wait_until(
		&c->go, c->uncancelled ? SENNIT_UNCANCELLED : SENNIT_NEVER));
	return 0;
}

static int open_inner(void *argument)
{
	struct enclosed *c = argument;
	sennit_group     g;

	sennit_group_init(&g, SENNIT_NEVER, c->flags);
	EXPECT(!sennit_group_spawn(&g, wait_enclosed, c));
	EXPECT(!sennit_group_wait(&g));
	return 0;
}

static void open_outer(void *argument)
{
	struct enclosed *c = argument;
	sennit_group     g;

	sennit_group_init(&g, c->deadline, c->flags);
	EXPECT(!sennit_group_spawn(&g, c->nested ? open_inner : wait_enclosed,
				   c));
	EXPECT(!sennit_group_wait(&g));
	sennit_wait_group_done(&c->done);
}

static void find_enclosed(void *found, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_EVENT)
		*(sennit_report_entry *)found = *e;
}

static sennit_report_entry enclosed_wait(sennit_scheduler *s)
{
	sennit_report_entry found = { .size = 0 };

	sennit_scheduler_report(s, find_enclosed, &found);
	return found;
}

static void begin_enclosed(struct enclosed *c, sennit_scheduler *s)
{
	const sennit_task task = { .run = open_outer, .argument = c };

	sennit_event_init(&c->go, SENNIT_EVENT_MANUAL, false);
	sennit_wait_group_init(&c->done, 1);
	c->s = s;
	c->deadline = sennit_after(3600 * SENNIT_SECOND);
	assert_int_equal(sennit_schedule_on(s, &task), 0);
	assert_soon(enclosed_wait(s).size);
}

TEST_WITH_WORKERS(a_wait_ends_with_the_deadline_of_a_group_around_it)
{
	struct enclosed c = { .uncancelled = false };
	unsigned        i;

	for (i = 0; i < 4; i++) {
		c.nested = i % 2;
		c.flags = i / 2 ? SENNIT_GROUP_OWN_STACKS : 0;
		begin_enclosed(&c, w->s);
		assert_true(enclosed_wait(w->s).deadline == c.deadline);
		sennit_event_set(&c.go);
		sennit_wait_group_wait(&c.done);
	}
}

/* The group's deadline ends neither this wait nor the wait for its member. */
TEST_WITH_THREADS(a_wait_that_no_group_ends_is_hopeless_in_one)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	struct enclosed   c = { .uncancelled = true,
				.flags = SENNIT_GROUP_OWN_STACKS };
	char              text[4096];

	begin_enclosed(&c, s);
	assert_true(enclosed_wait(s).deadline == SENNIT_NEVER);
	assert_soon(strstr(printed_report(s, text, sizeof(text)),
			   "nothing in the scheduler can wake any of them\n"));
	sennit_event_set(&c.go);
	sennit_wait_group_wait(&c.done);
	end_scheduler(s);
}
