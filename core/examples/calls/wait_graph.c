/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.c - find out which fiber another one waits for. */
#include "calls.h"
#include "sennit/wait_graph.h"

static sennit_mutex lock;

static int wait_for_lock(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&lock);
	sennit_mutex_unlock(&lock);
	return 0;
}

static void note(void *context, const sennit_wait_edge *edge)
{
	unsigned *waits = context;

	if (edge->waiter->waits_for == SENNIT_WAITS_FOR_MUTEX)
		++*waits;
	CHECK(edge->cycle == 0); /* it is no deadlock */
}

static void show(sennit_scheduler *s)
{
	unsigned     waits = 0;
	sennit_group g;

	sennit_mutex_lock(&lock);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, wait_for_lock, NULL) == 0);
	while (!waits) {
		sennit_sleep(SENNIT_MILLISECOND); /* until it waits */
		CHECK(sennit_wait_graph_visit(s, note, &waits) == 0);
	}
	sennit_mutex_unlock(&lock);
	CHECK(sennit_group_wait(&g) == 0);
}

int main(void)
{
	return run(show);
}
