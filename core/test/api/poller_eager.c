/* SPDX-License-Identifier: Apache-2.0 */
/* poller_eager.c - a worker whose hook wants to be asked at once stays awake:
 * the system may prolong a sleep whose time has just passed. */
#include "testing/device.h"

#include "base/torture.h"
#include "sennit/poller.h"

enum { ASKS = 100000 };

/* Torture cuts the search short. The worker then announces a sleep after each
 * ask, and stays awake. */
#define PARKS TORTURED(ASKS + 100, ASKS / 1000)

struct eager {
	sennit_poller_hook hook; /* first */
	unsigned           asks;
	sennit_event       done;
};

static sennit_time ask_eagerly(sennit_poller_hook *h)
{
	struct eager *e = (struct eager *)h;

	if (e->asks++ < ASKS)
		return sennit_now();
	sennit_event_set(&e->done);
	return SENNIT_NEVER;
}

static void wait_eagerly(void *unused)
{
	struct eager e = { .hook.ask = ask_eagerly };
	uint64_t     parks = stats_of(sennit_scheduler_current()).parks;

	EXPECT(sennit_poller_hook_add(&e.hook) == 0);
	sennit_poller_hook_ask(&e.hook);
	EXPECT(!sennit_event_wait(&e.done));
	EXPECT(stats_of(sennit_scheduler_current()).parks - parks < PARKS);
	sennit_poller_hook_remove(&e.hook);
}

TEST_WITH_THREADS(a_worker_with_a_time_in_the_past_does_not_park)
{
	in_a_task(wait_eagerly, NULL);
}
