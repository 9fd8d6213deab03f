/* SPDX-License-Identifier: Apache-2.0 */
/* event_several.c - waits for one of several events, and for all of them. */
#include "testing/with_workers.h"

#include <errno.h>

enum { MANY = SENNIT_EVENT_WAIT_MAX };

/* Events of one mode, and an array of pointers to them. */
struct row {
	sennit_event  event[MANY];
	sennit_event *all[MANY];
};

static void make_row(struct row *r, enum sennit_event_mode mode)
{
	for (unsigned i = 0; i < MANY; i++) {
		sennit_event_init(&r->event[i], mode);
		r->all[i] = &r->event[i];
	}
}

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(any_takes_the_first_that_is_set_and_no_other)
{
	struct row r;
	size_t     which = 77;

	make_row(&r, SENNIT_EVENT_AUTO);
	EXPECT(sennit_event_wait_any_until(r.all, 3, &which, 0) == -ETIMEDOUT);
	EXPECT(which == 77);
	sennit_event_set(&r.event[2]);
	sennit_event_set(&r.event[1]);
	EXPECT(sennit_event_wait_any_until(r.all, 3, &which, 0) == 0);
	EXPECT(which == 1);
	EXPECT(!sennit_event_is_set(&r.event[1]));
	EXPECT(sennit_event_is_set(&r.event[2]));
	EXPECT(sennit_event_wait_any(r.all, 3, &which) == 0);
	EXPECT(which == 2);
	sennit_event_set(&r.event[2]);
	EXPECT(sennit_event_wait_any(r.all, 3, NULL) == 0);
	EXPECT(!sennit_event_is_set(&r.event[2]));
	make_row(&r, SENNIT_EVENT_MANUAL);
	sennit_event_set(&r.event[0]);
	EXPECT(sennit_event_wait_any_until(r.all, 1, &which, 1) == 0);
	EXPECT(which == 0);
	EXPECT(sennit_event_is_set(&r.event[0]));
}

TEST_IN_EACH_PLACE(any_times_out_and_leaves_every_queue)
{
	const size_t      counts[] = { 1, 8, 9, MANY };
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);
	struct row        r;
	size_t            i, which = 77;

	make_row(&r, SENNIT_EVENT_AUTO);
	for (i = 0; i < 4; i++) {
		EXPECT(sennit_event_wait_any_until(r.all, counts[i], &which,
						   soon) == -ETIMEDOUT);
		EXPECT(which == 77);
		EXPECT(sennit_now() >= soon);
	}
	for (i = 0; i < MANY; i++) { /* fails if a waiter is left */
		sennit_event_set(&r.event[i]);
		EXPECT(sennit_event_is_set(&r.event[i]));
		sennit_event_destroy(&r.event[i]);
	}
}

TEST_IN_EACH_PLACE(all_takes_nothing_before_all_are_set)
{
	struct row        r;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	make_row(&r, SENNIT_EVENT_AUTO);
	r.event[1].mode_ = SENNIT_EVENT_MANUAL;
	EXPECT(sennit_event_wait_all_until(r.all, 0, 0) == 0);
	EXPECT(sennit_event_wait_all_until(r.all, 3, 0) == -ETIMEDOUT);
	sennit_event_set(&r.event[0]);
	sennit_event_set(&r.event[1]);
	EXPECT(sennit_event_wait_all_until(r.all, 3, 0) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_all_until(r.all, 3, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_event_is_set(&r.event[0])); /* nothing was consumed */
	sennit_event_set(&r.event[2]);
	EXPECT(sennit_event_wait_all_until(r.all, 3, 1) == 0);
	EXPECT(!sennit_event_is_set(&r.event[0]));
	EXPECT(sennit_event_is_set(&r.event[1]));
	EXPECT(!sennit_event_is_set(&r.event[2]));
}

TEST_IN_EACH_PLACE(all_counts_an_event_once)
{
	struct row r;

	make_row(&r, SENNIT_EVENT_AUTO);
	r.all[1] = r.all[0];
	sennit_event_set(&r.event[0]);
	EXPECT(!sennit_event_wait_all(r.all, 2));
	EXPECT(!sennit_event_is_set(&r.event[0]));
}
