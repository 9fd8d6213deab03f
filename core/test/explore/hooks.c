/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - several workers become idle at once, each with a hook that brings
 * work to its own worker, at the first look or later. */
#include "explore.h"

#include "sennit/group.h"
#include "sennit/poller.h"

enum { MOST = 4 };

struct guest {
	sennit_poller_hook hook; /* first */
	sennit_event       go;
	unsigned           looks; /* before there is work */
};

static struct guest guests[MOST];

static void let_go(void *guest)
{
	sennit_event_set(&((struct guest *)guest)->go);
}

static sennit_time ask(sennit_poller_hook *h)
{
	struct guest     *g = (struct guest *)h;
	const sennit_task t = { .run = let_go,
				.argument = g,
				.flags = SENNIT_TASK_SAME_THREAD };

	if (g->looks && g->looks--)
		return sennit_after(10 * SENNIT_MICROSECOND);
	REQUIRE(!sennit_schedule_task(&t));
	return SENNIT_NEVER;
}

static int stay(void *argument)
{
	struct guest *g = *(struct guest **)argument;

	g->hook = (sennit_poller_hook){ .ask = ask };
	g->looks = sennit_explore_choose(3);
	sennit_event_init(&g->go, SENNIT_EVENT_AUTO);
	REQUIRE(!sennit_poller_hook_add(&g->hook));
	sennit_poller_hook_ask(&g->hook);
	REQUIRE(!sennit_event_wait(&g->go));
	sennit_poller_hook_remove(&g->hook);
	return 0;
}

TEST_EXPLORED(what_a_hook_brings_to_its_worker_is_done)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = MOST));
	sennit_group      staying;

	sennit_group_init_on(&staying, s, SENNIT_NEVER, 0);
	for (uint32_t i = 0; i < MOST; i++) {
		struct guest *g = &guests[i];

		REQUIRE(!sennit_group_spawn_task(
			&staying,
			SENNIT_MEMBER(.run = stay, .argument = &g,
				      .copy_size = sizeof(g),
				      .flags = SENNIT_MEMBER_ON_WORKER,
				      .worker = i)));
	}
	REQUIRE(!sennit_group_wait(&staying));
	end(s);
}
