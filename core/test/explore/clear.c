/* SPDX-License-Identifier: Apache-2.0 */
/* clear.c - an event that was set before it is cleared is clear afterwards,
 * whatever looks at it meanwhile, and locks it for that. */
#include "explore.h"

#include "sennit/event.h"
#include "sennit/select.h"

enum look { WAIT, ANY, ALL, SELECT, LOOKS };

static struct {
	enum look         look;
	sennit_event      event, other;
	bool              cleared;
	sennit_wait_group done;
} scene;

/* Returns whether the event was seen set. */
static bool look_once(void)
{
	sennit_event *const both[] = { &scene.other, &scene.event };
	sennit_case         cases[] = { sennit_case_event(&scene.other),
					sennit_case_event(&scene.event) };
	size_t              which = 0;

	switch (scene.look) {
	case WAIT:
		return !sennit_event_wait_until(&scene.event, 0);
	case ANY:
		return !sennit_event_wait_any_until(both, 2, &which, 0);
	case ALL:
		return !sennit_event_wait_all_until(both, 2, sennit_now());
	default:
		return !sennit_select_until(cases, 2, &which, 0);
	}
}

static void look(void *unused)
{
	for (bool cleared = false; !cleared;) {
		cleared = scene.cleared;
		if (look_once())
			REQUIRE(!cleared);
		sennit_yield();
	}
	sennit_wait_group_done(&scene.done);
}

static void clear(void *unused)
{
	sennit_event_clear(&scene.event);
	REQUIRE(!sennit_event_is_set(&scene.event));
	scene.cleared = true;
	sennit_wait_group_done(&scene.done);
}

static void clear_while_others_look(void *look_)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	memset(&scene, 0, sizeof(scene));
	scene.look = *(const enum look *)look_;
	sennit_event_init(&scene.event, SENNIT_EVENT_MANUAL | SENNIT_EVENT_SET);
	sennit_event_init(&scene.other,
			  SENNIT_EVENT_MANUAL |
				  (scene.look == ALL ? SENNIT_EVENT_SET : 0));
	sennit_wait_group_init(&scene.done, 3);
	spawn(look, NULL);
	spawn(clear, NULL);
	look(NULL);
	sennit_wait_group_wait(&scene.done);
	sennit_event_destroy(&scene.event);
	sennit_event_destroy(&scene.other);
	end(s);
}

TEST(a_set_event_is_clear_after_a_clear)
{
	for (enum look l = 0; l < LOOKS; l++)
		explore_some(clear_while_others_look, &l, SCHEDULES / 4);
}
