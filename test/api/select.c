/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - select over sends, receives and events that are ready, and over
 * none. */
#include "with_workers.h"

#include <errno.h>

static void *no_memory(void *context, size_t size, size_t alignment)
{
	(void)context;
	(void)size;
	(void)alignment;
	return NULL;
}

static void no_release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)memory;
	(void)size;
}

static void try_none_ready(void *argument)
{
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);
	sennit_channel    c = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_channel    d = SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_event      e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	int               v = 3;
	size_t            which = 77;
	sennit_case       cases[7] = { sennit_case_send(&c, &v) };

	(void)argument;
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

static void try_each_ready(void *argument)
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

	(void)argument;
	EXPECT(!sennit_channel_send(&full, &v) &&
	       !sennit_channel_send(&full, &v));
	EXPECT(sennit_select(cases, 3) == 1);
	EXPECT(out == 5 && cases[1].result == 0);
	EXPECT(sennit_channel_length(&full) == 1);
	EXPECT(sennit_select_until(&put, 1, &which, 0) == 0);
	EXPECT(which == 0 && put.result == 0);
	EXPECT(sennit_channel_length(&full) == 2);
	EXPECT(sennit_select_until(&put, 1, &which, 0) == -ETIMEDOUT);
	EXPECT(sennit_select(cases, 3) == 1 && out == 5);
	EXPECT(sennit_select(cases, 3) == 1 && out == 8);
	sennit_event_set(&e);
	EXPECT(sennit_select(cases, 3) == 2);
	EXPECT(cases[2].result == 0 && !sennit_event_is_set(&e));
	sennit_channel_close(&closed);
	EXPECT(sennit_select(&shut, 1) == 0 && shut.result == -EPIPE);
	shut = sennit_case_send(&closed, &in);
	EXPECT(sennit_select(&shut, 1) == 0 && shut.result == -EPIPE);
}

static void try_without_memory(void *argument)
{
	const sennit_allocator a = { no_memory, no_release, NULL };
	sennit_channel         c;
	sennit_case            put;
	int                    v = 1;
	size_t                 which = 77;

	(void)argument;
	EXPECT(!sennit_channel_init(&c, sizeof(v), SENNIT_CHANNEL_UNBOUNDED,
				    &a));
	put = sennit_case_send(&c, &v);
	EXPECT(sennit_select_until(&put, 1, &which, 0) == 0);
	EXPECT(which == 0 && put.result == -ENOMEM);
	sennit_channel_destroy(&c);
	EXPECT(!sennit_channel_init(&c, sizeof(v), SENNIT_CHANNEL_UNBOUNDED,
				    NULL));
	EXPECT(sennit_select(&put, 1) == 0 && put.result == 0);
	EXPECT(sennit_channel_length(&c) == 1);
	sennit_channel_destroy(&c);
}

/* Four cases that can always proceed. Each is chosen about 500 times. A count
 * below 300 has a probability of 10^-20. */
static void try_fairness(void *argument)
{
	sennit_event e[4];
	sennit_case  cases[4];
	unsigned     count[4] = { 0 };
	unsigned     i;

	(void)argument;
	for (i = 0; i < 4; i++) {
		sennit_event_init(&e[i], SENNIT_EVENT_MANUAL, true);
		cases[i] = sennit_case_event(&e[i]);
	}
	for (i = 0; i < 2000; i++)
		count[sennit_select(cases, 4)]++;
	for (i = 0; i < 4; i++)
		EXPECT(count[i] > 300);
}

TEST_WITH_WORKERS(with_nothing_ready_it_times_out)
{
	in_each_place(try_none_ready, NULL);
}

TEST_WITH_WORKERS(it_does_one_case_and_no_other)
{
	in_each_place(try_each_ready, NULL);
}

TEST_WITH_WORKERS(without_memory_an_unbounded_send_says_so)
{
	in_each_place(try_without_memory, NULL);
}

TEST_WITH_WORKERS(all_ready_cases_have_their_chance)
{
	in_each_place(try_fairness, NULL);
}
