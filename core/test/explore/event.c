/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - waits for several events, in many orders. */
#include "explore.h"

#include <unistd.h>

static sennit_event      e, f;
static sennit_wait_group done;

static void set_scene(unsigned parties)
{
	sennit_event_init(&e, SENNIT_EVENT_AUTO);
	sennit_event_init(&f, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&done, parties);
}

static void end_scene(sennit_scheduler *s)
{
	sennit_wait_group_wait(&done);
	end(s);
	sennit_event_destroy(&e);
	sennit_event_destroy(&f);
}

static void set_e(void *unused)
{
	sennit_event_set(&e);
	sennit_wait_group_done(&done);
}

static void set_f(void *unused)
{
	sennit_event_set(&f);
	sennit_wait_group_done(&done);
}

/* Count the caller if the report shows it as running. */
static void count_running(void *count, const sennit_report_entry *entry)
{
	const sennit_fiber *self = sennit_fiber_current();

	*(unsigned *)count += entry->state == SENNIT_REPORT_RUNNING &&
			      entry->thread == (uint32_t)gettid() &&
			      entry->fiber == sennit_fiber_number(self);
}

static void wait_for_either(void *unused)
{
	sennit_event *const both[] = { &e, &f };
	unsigned            running = 0;

	REQUIRE(!sennit_event_wait_any(both, 2, NULL));
	sennit_report_visit(sennit_scheduler_current(), count_running,
			    &running);
	REQUIRE(running == 1);
	sennit_wait_group_done(&done);
}

/* Two sets release two waiters. A set counts even if it happens while they join
 * the queue. */
TEST_EXPLORED(two_sets_release_two_who_wait_for_either)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	set_scene(4);
	spawn(wait_for_either, NULL);
	spawn(set_f, NULL);
	spawn(set_e, NULL);
	spawn(wait_for_either, NULL);
	end_scene(s);
	REQUIRE(!sennit_event_is_set(&e) && !sennit_event_is_set(&f));
}

static void wait_for_all(void *reversed)
{
	sennit_event *const both[] = { &e, &f };
	sennit_event *const turned[] = { &f, &e };

	REQUIRE(!sennit_event_wait_all(reversed ? turned : both, 2));
	sennit_event_set(&e);
	sennit_event_set(&f);
	sennit_wait_group_done(&done);
}

TEST_EXPLORED(all_of_two_events_are_taken_in_any_order)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	set_scene(4);
	spawn(wait_for_all, NULL);
	spawn(wait_for_all, &e);
	spawn(set_e, NULL);
	spawn(set_f, NULL);
	end_scene(s);
	REQUIRE(sennit_event_is_set(&e) && sennit_event_is_set(&f));
}
