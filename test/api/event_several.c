/* SPDX-License-Identifier: Apache-2.0 */
/* event_several.c - waits for one of several events, and for all of them: one
 * caller, stale wakes, freed memory. */
#include "event_row.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

static void try_any_of_set(void *argument)
{
	struct row r;
	size_t     which = 77;

	(void)argument;
	make_row(&r, SENNIT_EVENT_AUTO);
	EXPECT(sennit_event_wait_any_until(r.all, 3, &which, 0) == -ETIMEDOUT);
	EXPECT(which == 77);
	sennit_event_set(&r.event[2]);
	sennit_event_set(&r.event[1]);
	EXPECT(sennit_event_wait_any_until(r.all, 3, &which, 0) == 0);
	EXPECT(which == 1);
	EXPECT(!sennit_event_is_set(&r.event[1]));
	EXPECT(sennit_event_is_set(&r.event[2]));
	EXPECT(sennit_event_wait_any(r.all, 3) == 2);
	EXPECT(!sennit_event_is_set(&r.event[2]));
	make_row(&r, SENNIT_EVENT_MANUAL);
	sennit_event_set(&r.event[0]);
	EXPECT(sennit_event_wait_any_until(r.all, 1, &which, 1) == 0);
	EXPECT(which == 0);
	EXPECT(sennit_event_is_set(&r.event[0]));
}

static void try_any_deadline(void *argument)
{
	const size_t      counts[] = { 1, 8, 9, MANY };
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);
	struct row        r;
	size_t            i, which = 77;

	(void)argument;
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

static void try_all(void *argument)
{
	struct row        r;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	(void)argument;
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

static void try_all_with_one_twice(void *argument)
{
	struct row r;

	(void)argument;
	make_row(&r, SENNIT_EVENT_AUTO);
	r.all[1] = r.all[0];
	sennit_event_set(&r.event[0]);
	EXPECT(!sennit_event_wait_all(r.all, 2));
	EXPECT(!sennit_event_is_set(&r.event[0]));
}

TEST_WITH_WORKERS(any_takes_the_first_that_is_set_and_no_other)
{
	in_each_place(try_any_of_set, NULL);
}

TEST_WITH_WORKERS(any_times_out_and_leaves_every_queue)
{
	in_each_place(try_any_deadline, NULL);
}

TEST_WITH_WORKERS(all_takes_nothing_before_all_are_set)
{
	in_each_place(try_all, NULL);
}

TEST_WITH_WORKERS(all_counts_an_event_once)
{
	in_each_place(try_all_with_one_twice, NULL);
}

/* --- stale wakes, freed memory ------------------------------------------ */

/* The signal that ended one wait must not end the next. */
static void wait_twice(void *argument)
{
	struct row        r;
	const sennit_time soon = sennit_after(SENNIT_MILLISECOND);
	size_t            which;

	(void)argument;
	make_row(&r, SENNIT_EVENT_AUTO);
	EXPECT(sennit_event_wait_any_until(r.all, 4, &which, soon));
	sennit_event_set(&r.event[0]);
	EXPECT(sennit_event_wait_any_until(&r.all[1], 3, &which,
					   sennit_after(SENNIT_MILLISECOND)) ==
	       -ETIMEDOUT);
	EXPECT(sennit_event_is_set(&r.event[0]));
}

TEST_WITH_WORKERS(a_set_after_the_deadline_wakes_no_later_wait)
{
	in_each_place(wait_twice, NULL);
}

/* The event that ended the wait is freed at once. The other stays. */
struct freeing {
	_Atomic(sennit_event *) offered;
	atomic_bool             over;
	sennit_wait_group       done;
};

static void set_what_is_offered(void *argument)
{
	struct freeing *f = argument;

	while (!atomic_load(&f->over)) {
		sennit_event *e = atomic_exchange(&f->offered, NULL);

		if (e)
			sennit_event_set(e);
		else
			sennit_yield();
	}
	sennit_wait_group_done(&f->done);
}

static void wait_and_free(void *argument)
{
	struct freeing *f = argument;
	sennit_event    never = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	unsigned        i;

	for (i = 0; i < 100; i++) {
		sennit_event *const e = calloc(1, sizeof(*e));
		sennit_event *const both[] = { &never, e };

		atomic_store(&f->offered, e);
		if (i % 2)
			EXPECT(sennit_event_wait_any(both, 2) == 1);
		else
			EXPECT(!sennit_event_wait_all(&both[1], 1));
		free(e);
	}
	sennit_event_destroy(&never);
}

TEST_WITH_WORKERS(the_event_that_ended_a_wait_may_be_freed_at_once)
{
	struct freeing f = { .offered = NULL };

	sennit_wait_group_init(&f.done, 1);
	must_schedule(set_what_is_offered, &f);
	in_each_place(wait_and_free, &f);
	atomic_store(&f.over, true);
	sennit_wait_group_wait(&f.done);
}
