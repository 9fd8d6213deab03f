/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - select over sends, receives and events that are ready, over none,
 * and over as many as it may. */
#include "testing/with_workers.h"

#include <errno.h>

static void *no_memory(void *context, size_t size, size_t alignment)
{
	return NULL;
}

static void no_release(void *context, void *memory, size_t size)
{
}

TEST_IN_EACH_PLACE(with_nothing_ready_it_times_out)
{
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);
	sennit_channel    c = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_channel    d = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_event      e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	int               v = 3;
	size_t            which = 77;
	sennit_case       cases[7] = { sennit_case_send(&c, &v) };

	cases[1] = sennit_case_receive(&c, &v);
	cases[2] = sennit_case_receive(&d, &v);
	cases[3] = sennit_case_event(&e);
	cases[4] = sennit_case_event(NULL);
	cases[5] = sennit_case_send(NULL, &v);
	cases[6] = sennit_case_receive(NULL, &v);
	EXPECT(sennit_select_until(cases, 7, &which, 0) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases, 7, &which, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_select_until(cases, 7, &which, soon) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases + 4, 3, &which, 1) == -ETIMEDOUT);
	EXPECT(sennit_select_until(NULL, 0, &which, 0) == -ETIMEDOUT);
	EXPECT(sennit_select_until(NULL, 0, &which, 1) == -ETIMEDOUT);
	EXPECT(which == 77);
	EXPECT(v == 3);
	sennit_channel_destroy(&c); /* fails if a waiter is left */
	sennit_channel_destroy(&d);
	sennit_event_destroy(&e);
}

TEST_IN_EACH_PLACE(it_does_one_case_and_no_other)
{
	int            memory[2], in = 8, out = 0, v = 5;
	sennit_channel full = SENNIT_CHANNEL_INIT_ARRAY(memory);
	sennit_channel closed = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_channel never = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_event   e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	sennit_case    cases[] = { sennit_case_receive(&never, &out),
				   sennit_case_receive(&full, &out),
				   sennit_case_event(&e) };
	sennit_case    put = sennit_case_send(&full, &in);
	sennit_case    shut = sennit_case_receive(&closed, &out);
	size_t         which = 77;

	EXPECT(!sennit_channel_send(&full, &v) &&
	       !sennit_channel_send(&full, &v));
	EXPECT(!sennit_select(cases, 3, &which) && which == 1);
	EXPECT(out == 5 && cases[1].result == 0);
	EXPECT(sennit_channel_length(&full) == 1);
	EXPECT(sennit_select_until(&put, 1, &which, 0) == 0);
	EXPECT(which == 0 && put.result == 0);
	EXPECT(sennit_channel_length(&full) == 2);
	EXPECT(sennit_select_until(&put, 1, &which, 0) == -ETIMEDOUT);
	EXPECT(!sennit_select(cases, 3, &which) && which == 1 && out == 5);
	EXPECT(!sennit_select(cases, 3, &which) && which == 1 && out == 8);
	sennit_event_set(&e);
	EXPECT(!sennit_select(cases, 3, &which) && which == 2);
	EXPECT(cases[2].result == 0 && !sennit_event_is_set(&e));
	sennit_channel_close(&closed);
	EXPECT(!sennit_select(&shut, 1, &which) && which == 0 &&
	       shut.result == -EPIPE);
	shut = sennit_case_send(&closed, &in);
	EXPECT(!sennit_select(&shut, 1, &which) && which == 0 &&
	       shut.result == -EPIPE);
}

TEST_IN_EACH_PLACE(without_memory_an_unbounded_send_says_so)
{
	const sennit_allocator a = { no_memory, no_release, NULL };
	sennit_channel         c;
	sennit_case            put;
	int                    v = 1;
	size_t                 which = 77;

	EXPECT(!sennit_channel_init(&c, SENNIT_CHANNEL_UNBOUNDED, sizeof(v),
				    &a));
	put = sennit_case_send(&c, &v);
	EXPECT(sennit_select_until(&put, 1, &which, 0) == 0);
	EXPECT(which == 0 && put.result == -ENOMEM);
	sennit_channel_destroy(&c);
	EXPECT(!sennit_channel_init(&c, SENNIT_CHANNEL_UNBOUNDED, sizeof(v),
				    NULL));
	EXPECT(!sennit_select(&put, 1, NULL) && put.result == 0);
	EXPECT(sennit_channel_length(&c) == 1);
	sennit_channel_destroy(&c);
}

/* Four cases that can always proceed. Each is chosen about 500 times. A count
 * below 300 has a probability of 10^-20. */
TEST_IN_EACH_PLACE(all_ready_cases_have_their_chance)
{
	sennit_event e[4];
	sennit_case  cases[4];
	unsigned     count[4] = { 0 };
	size_t       which;

	for (unsigned i = 0; i < 4; i++) {
		sennit_event_init(&e[i],
				  SENNIT_EVENT_MANUAL | SENNIT_EVENT_SET);
		cases[i] = sennit_case_event(&e[i]);
	}
	for (unsigned i = 0; i < 2000; i++)
		if (!sennit_select(cases, 4, &which))
			count[which]++;
	for (unsigned i = 0; i < 4; i++)
		EXPECT(count[i] > 300);
}

/* --- many cases ----------------------------------------------------------- */

enum { MANY = SENNIT_SELECT_MAX };

struct many {
	sennit_event      events[MANY];
	size_t            which;
	sennit_wait_group done;
};

static void select_one_of_many(void *argument)
{
	struct many *m = argument;
	sennit_case  cases[MANY];

	for (unsigned i = 0; i < MANY; i++)
		cases[i] = sennit_case_event(&m->events[i]);
	EXPECT(!sennit_select(cases, MANY, &m->which));
	EXPECT(!cases[m->which].result);
	sennit_wait_group_done(&m->done);
}

/* One of 64 cases becomes possible; the other 63 do not happen. */
TEST_WITH_WORKERS(it_waits_for_as_many_as_it_may)
{
	struct many m;

	for (unsigned k = 0; k < 4; k++) {
		memset(&m, 0, sizeof(m));
		sennit_wait_group_init(&m.done, 1);
		must_schedule(select_one_of_many, &m);
		assert_soon(fibers_of(w->s) == 1);
		sennit_event_set(&m.events[21 * k]);
		sennit_wait_group_wait(&m.done);
		assert_int_equal(m.which, 21 * k);
		for (unsigned i = 0; i < MANY; i++)
			sennit_event_destroy(&m.events[i]);
	}
}
