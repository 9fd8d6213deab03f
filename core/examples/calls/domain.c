/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - a part of a program's work that ends by itself. */
#include "calls.h"
#include "sennit/domain.h"

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

static void count_end(void *ends)
{
	atomic_fetch_add((atomic_uint *)ends, 1);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

/* Others than the creator want to know of the end, some of them late. */
static void tell(sennit_scheduler *s)
{
	sennit_event        over = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_event        late = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_future       first, last;
	atomic_uint         ends = 0;
	sennit_weak_domain *weak;
	sennit_domain      *d = NULL;

	sennit_future_init(&first);
	sennit_future_init(&last);
	CHECK(sennit_domain_create(&d, s, NULL, NULL) == 0);
	CHECK(sennit_domain_on_end(d, count_end, &ends) == 0);
	CHECK(sennit_domain_on_end(d, set_event, &over) == 0);
	CHECK(sennit_domain_on_end(d, set_future, &first) == 0);

	/* Another part of the program has no reference. */
	weak = sennit_domain_weak(d);
	sennit_weak_domain_retain(weak);
	CHECK(sennit_weak_domain_lock(weak, &d) == 0);
	sennit_domain_release(d);

	CHECK(sennit_domain_shutdown(d, soon()) == 0);
	CHECK(sennit_event_is_set(&over) && sennit_future_is_set(&first));
	CHECK(sennit_weak_domain_lock(weak, &d) == -ESHUTDOWN);
	CHECK(sennit_weak_domain_on_end(weak, count_end, &ends) == 0);
	CHECK(sennit_weak_domain_on_end(weak, set_event, &late) == 0);
	CHECK(sennit_weak_domain_on_end(weak, set_future, &last) == 0);
	CHECK(atomic_load(&ends) == 2);
	sennit_weak_domain_release(weak);
	sennit_weak_domain_release(weak);
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
	CHECK(!sennit_event_wait(&ended));
	CHECK(atomic_load(&requests) == 2);
	tell(s);
}

int main(void)
{
	return run(show);
}
