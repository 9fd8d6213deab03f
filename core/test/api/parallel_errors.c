/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_errors.c - what stops a loop: errors, deadlines and cancels. */
#include "parallel_on.h"

struct trouble {
	atomic_uint calls;
	size_t      at;
};

static int fail_at(void *context, size_t begin, size_t end)
{
	struct trouble *t = context;

	atomic_fetch_add(&t->calls, 1);
	return t->at >= begin && t->at < end ? -EIO : 0;
}

TEST_IN_EACH_PLACE_OF(the_first_error_is_returned)
{
	for (size_t at = 0; at < 100; at += 33) {
		sennit_parallel_options o = on(world, 1);
		struct trouble          t = { .at = at };

		EXPECT(sennit_parallel_for(0, 100, fail_at, &t, &o,
					   SENNIT_NEVER) == -EIO);
		o.grain = 0;
		EXPECT(sennit_parallel_for(0, 100, fail_at, &t, &o,
					   SENNIT_NEVER) == -EIO);
	}
}

static int fail_at_once(void *context, size_t begin, size_t end)
{
	struct trouble *t = context;

	atomic_fetch_add(&t->calls, 1);
	return -EIO;
}

TEST_WITH_WORKERS(an_error_keeps_pieces_from_beginning)
{
	sennit_parallel_options o = on(w, 1);
	struct trouble          t = { 0 };

	assert_int_equal(sennit_parallel_for(0, SIZE_MAX, fail_at_once, &t, &o,
					     SENNIT_NEVER),
			 -EIO);
	assert_true(atomic_load(&t.calls) <= (w->threads ? w->threads : 1));
}

static int fail_or_wait(void *context, size_t begin, size_t end)
{
	sennit_event *never = context;

	if (begin % 7 == 3)
		return -EIO;
	return sennit_event_wait_until(never, SENNIT_NEVER);
}

TEST_IN_EACH_PLACE_OF(an_error_ends_waits_of_other_pieces)
{
	sennit_parallel_options o = on(world, 1);
	sennit_event            never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	EXPECT(sennit_parallel_for(0, 100, fail_or_wait, &never, &o,
				   SENNIT_NEVER) == -EIO);
}

static int count_calls(void *context, size_t begin, size_t end)
{
	atomic_fetch_add(&((struct trouble *)context)->calls, 1);
	return 0;
}

TEST_IN_EACH_PLACE_OF(the_deadline_ends_it)
{
	sennit_parallel_options o = on(world, 1);
	struct trouble          t = { 0 };
	sennit_time             deadline;

	EXPECT(sennit_parallel_for(0, 100, must_not_run, NULL, &o, 0) ==
	       -ETIMEDOUT);
	EXPECT(sennit_parallel_for(0, 100, must_not_run, NULL, &o, 1) ==
	       -ETIMEDOUT);
	deadline = sennit_after(SENNIT_MILLISECOND);
	EXPECT(sennit_parallel_for(0, SIZE_MAX, count_calls, &t, &o,
				   deadline) == -ETIMEDOUT);
	EXPECT(sennit_now() >= deadline);
	deadline = sennit_after(GIVE_UP);
	EXPECT(sennit_parallel_for(0, 100, count_calls, &t, &o, deadline) == 0);
	EXPECT(sennit_parallel_for(0, 100, count_calls, &t, &o, SENNIT_NEVER) ==
	       0);
}

struct endless {
	struct world *w;
	sennit_group  g; /* around the loop */
	atomic_uint   calls;
	int           returned;
};

static int cancel_at_last(void *context, size_t begin, size_t end)
{
	struct endless *e = context;

	if (atomic_fetch_add(&e->calls, 1) == 1000)
		sennit_group_cancel(&e->g);
	return 0;
}

static int loop_for_ever(void *argument)
{
	struct endless         *e = argument;
	sennit_parallel_options o = on(e->w, 3);

	e->returned = sennit_parallel_for(0, SIZE_MAX, cancel_at_last, e, &o,
					  SENNIT_NEVER);
	return 0;
}

TEST_IN_EACH_PLACE_OF(cancelling_the_callers_group_ends_it)
{
	struct endless e = { .w = world };

	sennit_group_init_on(&e.g, e.w->s, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&e.g, loop_for_ever, &e) == 0);
	EXPECT(sennit_group_wait(&e.g) == -ECANCELED);
	EXPECT(e.returned == -ECANCELED);
	EXPECT(atomic_load(&e.calls) > 1000);
}

static int loop_cancelled(void *argument)
{
	struct endless         *e = argument;
	sennit_parallel_options o = on(e->w, 0);

	sennit_group_cancel(&e->g);
	EXPECT(sennit_parallel_for(0, 9, must_not_run, NULL, &o,
				   SENNIT_NEVER) == -ECANCELED);
	EXPECT(sennit_parallel_for(9, 9, must_not_run, NULL, &o,
				   SENNIT_NEVER) == 0);
	return 0;
}

TEST_IN_EACH_PLACE_OF(in_a_cancelled_group_nothing_begins)
{
	struct endless e = { .w = world };

	sennit_group_init_on(&e.g, e.w->s, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&e.g, loop_cancelled, &e) == 0);
	EXPECT(sennit_group_wait(&e.g) == -ECANCELED);
}
