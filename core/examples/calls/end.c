/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - three ways to be notified of the end of a scheduler, and a handle
 * that does not keep it alive.
 */
#include "calls.h"
#include "sennit/end.h"

#include <stdatomic.h>

static atomic_uint calls;

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&calls, 1);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

/* Without a reference: by a weak handle. */
static void watch(sennit_weak_scheduler *w, sennit_event *e, sennit_future *f)
{
	CHECK(sennit_weak_scheduler_on_end(w, count, NULL) == 0);
	CHECK(sennit_weak_scheduler_on_end(w, set_event, e) == 0);
	CHECK(sennit_weak_scheduler_on_end(w, set_future, f) == 0);
}

int main(void)
{
	sennit_event      e[2] = { SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL),
				   SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };
	sennit_future     f[2] = { SENNIT_FUTURE_INIT, SENNIT_FUTURE_INIT };
	sennit_scheduler *s, *same;
	sennit_weak_scheduler *w;

	CHECK(sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) == 0);
	CHECK(sennit_scheduler_on_end(s, count, NULL) == 0);
	CHECK(sennit_scheduler_on_end(s, set_event, &e[0]) == 0);
	CHECK(sennit_scheduler_on_end(s, set_future, &f[0]) == 0);
	w = sennit_scheduler_weak(s);
	CHECK(w);
	watch(w, &e[1], &f[1]);

	/* A reference, as long as the scheduler has not ended. */
	CHECK(sennit_weak_scheduler_lock(w, &same) == 0 && same == s);
	sennit_scheduler_release(same);
	sennit_scheduler_release(s); /* the last one */
	for (int i = 0; i < 2; i++) {
		CHECK(!sennit_event_wait(&e[i]));
		CHECK(!sennit_future_wait(&f[i]));
	}
	CHECK(atomic_load(&calls) == 2);
	CHECK(sennit_weak_scheduler_lock(w, &same) == -ESHUTDOWN);
	sennit_weak_scheduler_retain(w); /* a second owner of the handle */
	sennit_weak_scheduler_release(w);
	sennit_weak_scheduler_release(w);
	return 0;
}
