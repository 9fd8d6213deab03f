/* SPDX-License-Identifier: Apache-2.0 */
/* select_cases.c - a select that has futures and times among its cases. */
#include "testing/crowd.h"
#include "testing/with_workers.h"

#include <errno.h>

/* --- futures ------------------------------------------------------------ */

TEST_IN_EACH_PLACE(a_future_that_is_set_is_done)
{
	int            v = 0, out = 0;
	void          *value = NULL;
	sennit_channel never = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_future  f = SENNIT_FUTURE_INIT;
	sennit_case    cases[] = { sennit_case_receive(&never, &out),
				   sennit_case_future(&f, &value),
				   sennit_case_future(NULL, &value) };
	size_t         which = 77;

	EXPECT(sennit_select_until(cases, 3, &which, 0) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases, 3, &which, 1) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases + 2, 1, &which, 1) == -ETIMEDOUT);
	EXPECT(which == 77 && !value);
	sennit_future_set(&f, &v);
	EXPECT(!sennit_select_until(cases, 3, &which, 0));
	EXPECT(which == 1 && cases[1].result == 0 && value == &v);
	/* It stays set. */
	cases[1] = sennit_case_future(&f, NULL);
	which = 77;
	EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
	EXPECT(which == 1 && cases[1].result == 0);
	sennit_channel_destroy(&never);
	sennit_future_destroy(&f);
}

/* Errors that mean something else inside of a select. */
TEST_IN_EACH_PLACE(the_error_of_a_future_is_the_result)
{
	static const int errors[] = { -EAGAIN, -ENOMEM, -EPIPE, -ETIMEDOUT,
				      -ECANCELED };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		sennit_future f = SENNIT_FUTURE_INIT;
		void         *value = &f;
		sennit_case   k = sennit_case_future(&f, &value);
		size_t        which = 77;

		sennit_future_set_error(&f, errors[i]);
		EXPECT(!sennit_select_until(&k, 1, &which, 0));
		EXPECT(which == 0 && k.result == errors[i] && value == &f);
	}
}

/* --- futures that are waited for ---------------------------------------- */

struct scene {
	sennit_channel    never;
	sennit_future     f[2];
	sennit_future    *again; /* in a third case; NULL: left out */
	sennit_time       deadline, time;
	sennit_group     *group;
	int               err, result;
	size_t            which;
	void             *value;
	sennit_wait_group done;
};

static void set_scene(struct scene *c)
{
	memset(c, 0, sizeof(*c));
	c->deadline = c->time = SENNIT_NEVER;
	c->which = 77;
	sennit_wait_group_init(&c->done, 1);
}

static void select_in_scene(void *argument)
{
	struct scene *c = argument;
	sennit_case   cases[] = { sennit_case_receive(&c->never, NULL),
				  sennit_case_future(&c->f[0], &c->value),
				  sennit_case_future(&c->f[1], &c->value),
				  sennit_case_future(c->again, &c->value),
				  sennit_case_deadline(c->time) };

	c->err = sennit_select_until(cases, 5, &c->which, c->deadline);
	c->result = c->err ? 0 : cases[c->which].result;
	/* The queues are empty, so all may be freed. */
	sennit_channel_destroy(&c->never);
	sennit_future_destroy(&c->f[0]);
	sennit_future_destroy(&c->f[1]);
	memset(c->f, 0xff, sizeof(c->f));
	sennit_wait_group_done(&c->done);
}

TEST_WITH_WORKERS(a_future_ends_a_wait)
{
	struct scene c;
	pthread_t    t;

	for (unsigned i = 0; i < 8; i++) {
		set_scene(&c);
		c.again = i % 4 < 2 ? &c.f[1] : NULL;
		if (i & 1)
			t = start_on_thread(select_in_scene, &c);
		else
			must_schedule(select_in_scene, &c);
		if (i & 4) /* sometimes it already waits */
			sennit_yield();
		if (i & 2)
			sennit_future_set_error(&c.f[1], -EDOM);
		else
			sennit_future_set(&c.f[1], &c);
		sennit_wait_group_wait(&c.done);
		if (i & 1)
			pthread_join(t, NULL);
		assert_int_equal(c.err, 0);
		assert_true(c.which == 2 || (c.which == 3 && c.again));
		assert_int_equal(c.result, i & 2 ? -EDOM : 0);
		assert_ptr_equal(c.value, i & 2 ? NULL : &c);
	}
}

/* --- times -------------------------------------------------------------- */

TEST_IN_EACH_PLACE(a_time_is_a_case)
{
	/* Far enough: of times that have passed before the call, any may be
	 * the result. */
	const sennit_time soon = sennit_after(100 * SENNIT_MILLISECOND);
	sennit_event      e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	sennit_case       cases[] = { sennit_case_event(&e),
				      sennit_case_deadline(SENNIT_NEVER),
				      sennit_case_deadline(soon + 1),
				      sennit_case_deadline(soon) };
	size_t            which = 77;

	EXPECT(sennit_select_until(cases, 2, &which, 1) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases + 1, 1, &which, 1) == -ETIMEDOUT);
	EXPECT(which == 77);
	EXPECT(!sennit_select_until(cases, 4, &which, SENNIT_NEVER));
	EXPECT(which == 3 && cases[3].result == 0);
	EXPECT(sennit_now() >= soon);
	/* A time that has passed happens at once. */
	which = 77;
	EXPECT(!sennit_select_until(cases + 3, 1, &which, 0) && which == 0);
	cases[0] = sennit_case_deadline(0);
	EXPECT(!sennit_select_until(cases, 2, &which, 0) && which == 0);
	sennit_event_destroy(&e);
}

/* The deadline of the call comes before the time of a case. */
TEST_IN_EACH_PLACE(the_deadline_may_come_before_a_time)
{
	const sennit_time soon = sennit_after(SENNIT_MILLISECOND);
	sennit_case       k = sennit_case_deadline(soon + 1000 * SENNIT_SECOND);
	size_t            which = 77;

	EXPECT(sennit_select_until(&k, 1, &which, 0) == -ETIMEDOUT);
	EXPECT(sennit_select_until(&k, 1, &which, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon && which == 77);
}

/* A time that has passed and an event that is set: 2000 times, each less than
 * 300 times with a probability of less than 10^-200. */
TEST_IN_EACH_PLACE(times_and_futures_have_their_chance_among_others)
{
	sennit_event  e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_future f = SENNIT_FUTURE_INIT;
	sennit_case   cases[] = { sennit_case_event(&e),
				  sennit_case_future(&f, NULL),
				  sennit_case_deadline(1) };
	unsigned      count[3] = { 0 };

	sennit_event_set(&e);
	sennit_future_set(&f, NULL);
	for (unsigned i = 0; i < 2000; i++) {
		size_t which = 0;

		EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
		count[which]++;
	}
	for (unsigned i = 0; i < 3; i++)
		EXPECT(count[i] > 300);
}

/* What happens first ends the wait, though a time is to come. */
TEST_WITH_WORKERS(a_future_beats_a_time)
{
	struct scene c;

	set_scene(&c);
	c.time = sennit_after(GIVE_UP);
	must_schedule(select_in_scene, &c);
	sennit_yield();
	sennit_future_set(&c.f[0], &c);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(c.err, 0);
	assert_int_equal(c.which, 1);
	assert_ptr_equal(c.value, &c);
}

/* --- groups ------------------------------------------------------------- */

static int select_as_member(void *argument)
{
	select_in_scene(argument);
	return 0;
}

static void cancel_select(struct scene *c, sennit_time group_deadline)
{
	sennit_group g;

	sennit_group_init(&g, group_deadline, 0);
	assert_int_equal(sennit_group_spawn(&g, select_as_member, c), 0);
	sennit_yield();
	if (group_deadline == SENNIT_NEVER)
		sennit_group_cancel(&g);
	(void)sennit_group_wait(&g);
}

TEST_WITH_WORKERS(a_cancelled_group_ends_it)
{
	struct scene c;

	set_scene(&c);
	c.time = sennit_after(GIVE_UP);
	cancel_select(&c, SENNIT_NEVER);
	assert_int_equal(c.err, -ECANCELED);
	assert_int_equal(c.which, 77);
}

TEST_WITH_WORKERS(the_deadline_of_its_group_ends_it)
{
	struct scene c;

	set_scene(&c);
	c.time = sennit_after(GIVE_UP);
	cancel_select(&c, sennit_after(SENNIT_MILLISECOND));
	assert_int_equal(c.err, -ETIMEDOUT);
	assert_int_equal(c.which, 77);
}

/* The time of a case still ends a select that no group can end. */
TEST_WITH_WORKERS(a_time_ends_what_no_group_can_end)
{
	struct scene c;

	set_scene(&c);
	c.time = sennit_after(SENNIT_MILLISECOND);
	c.deadline = SENNIT_UNCANCELLED;
	cancel_select(&c, SENNIT_NEVER);
	assert_int_equal(c.err, 0);
	assert_int_equal(c.which, 4);
}
