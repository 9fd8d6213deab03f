/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - a part of a program's work that ends by itself. */
#include "calls.h"

#include <stdatomic.h>

static sennit_event   ended = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static atomic_uint    requests;
static sennit_domain *plugin;

static void set(void *event)
{
	sennit_event_set(event);
}

static void serve(void *unused)
{
	(void)unused;
	CHECK(sennit_domain_current() == plugin);
	atomic_fetch_add(&requests, 1);
}

static void show(sennit_scheduler *s)
{
	const sennit_task task = { .run = serve };

	CHECK(sennit_domain_create(&plugin, s, set, &ended) == 0);
	CHECK(sennit_domain_scheduler(plugin) == s);
	CHECK(sennit_domain_current() == NULL); /* main is not part of it */
	CHECK(sennit_domain_schedule(plugin, serve, NULL) == 0);
	CHECK(sennit_domain_schedule_task(plugin, &task) == 0);

	/* A second owner. The domain ends after the last release, once its
	 * tasks have ended; then `set` is called. */
	sennit_domain_retain(plugin);
	sennit_domain_release(plugin);
	sennit_domain_release(plugin);
	sennit_event_wait(&ended);
	CHECK(atomic_load(&requests) == 2);
}

int main(void)
{
	return run(show);
}
