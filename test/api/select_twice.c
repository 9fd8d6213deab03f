/* SPDX-License-Identifier: Apache-2.0 */
/* select_twice.c - waits that name one channel or event several times.
 *
 * The thread that ends such a wait may free the object at once. Here the object
 * lies on a page of its own, which becomes inaccessible as soon as the
 * partner's call has returned.
 */
#include "with_workers.h"

#include <errno.h>
#include <sys/mman.h>

enum { SEND, RECEIVE, EVENT, OTHER, KINDS };

/* The objects of the wait. Those on the page go away when it is over. */
struct twice {
	struct shared {
		sennit_channel channel;
		sennit_event   event;
	} * page;
	sennit_event      other; /* never set, and not on the page */
	int               out, in;
	unsigned          kinds[3];
	size_t            count, which;
	int               result;
	bool              any; /* use sennit_event_wait_any */
	sennit_wait_group done;
};

static void open_twice(struct twice *t, enum sennit_event_mode mode)
{
	t->page = mmap(NULL, sizeof(*t->page), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(t->page != MAP_FAILED);
	t->page->channel = (sennit_channel)SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_event_init(&t->page->event, mode, false);
	sennit_event_init(&t->other, SENNIT_EVENT_AUTO, false);
	t->out = 5;
	t->in = 0;
	t->which = 77;
	t->result = 77;
	sennit_wait_group_init(&t->done, 1);
}

static sennit_case case_of(struct twice *t, unsigned kind)
{
	switch (kind) {
	case SEND:
		return sennit_case_send(&t->page->channel, &t->out);
	case RECEIVE:
		return sennit_case_receive(&t->page->channel, &t->in);
	case EVENT:
		return sennit_case_event(&t->page->event);
	default:
		return sennit_case_event(&t->other);
	}
}

static void wait_for_cases(struct twice *t)
{
	sennit_case cases[3];
	size_t      i;

	for (i = 0; i < t->count; i++)
		cases[i] = case_of(t, t->kinds[i]);
	t->which = (size_t)sennit_select(cases, t->count);
	t->result = cases[t->which].result;
}

static void wait_for_events(struct twice *t)
{
	sennit_event *events[3];
	size_t        i;

	for (i = 0; i < t->count; i++)
		events[i] = t->kinds[i] == EVENT ? &t->page->event : &t->other;
	t->which = (size_t)sennit_event_wait_any(events, t->count);
	t->result = 0;
}

static void wait_twice(void *argument)
{
	struct twice *t = argument;

	if (t->any)
		wait_for_events(t);
	else
		wait_for_cases(t);
	sennit_wait_group_done(&t->done);
}

/* End the wait by a case of this kind, or by closing the channel. */
static void end_wait(struct twice *t, unsigned kind, bool close)
{
	int v = 9;

	if (close)
		sennit_channel_close(&t->page->channel);
	else if (kind == SEND)
		assert_int_equal(sennit_channel_receive(&t->page->channel, &v),
				 0);
	else if (kind == RECEIVE)
		assert_int_equal(sennit_channel_send(&t->page->channel, &v), 0);
	else
		sennit_event_set(&t->page->event);
	sennit_channel_destroy(&t->page->channel);
	sennit_event_destroy(&t->page->event);
	assert_int_equal(mprotect(t->page, sizeof(*t->page), PROT_NONE), 0);
}

static void try_twice(struct world *w, struct twice *t, unsigned kind,
		      bool close)
{
	must_schedule(wait_twice, t);
	assert_soon(fibers_of(w->s) == 1);
	end_wait(t, kind, close);
	sennit_wait_group_wait(&t->done);
	assert_true(close || t->kinds[t->which] == kind);
	assert_int_equal(t->result, close ? -EPIPE : 0);
	assert_int_equal(t->in, !close && kind == RECEIVE ? 9 : 0);
	sennit_event_destroy(&t->other);
	munmap(t->page, sizeof(*t->page));
}

static const unsigned channel_waits[][3] = {
	{ SEND, RECEIVE, OTHER },   { RECEIVE, SEND, OTHER },
	{ SEND, OTHER, RECEIVE },   { SEND, RECEIVE, SEND },
	{ RECEIVE, SEND, RECEIVE }, { SEND, SEND, RECEIVE },
};

TEST_WITH_WORKERS(a_channel_selected_both_ways_may_be_freed_at_once)
{
	struct twice t;
	unsigned     i, how;

	for (i = 0; i < 6; i++) {
		for (how = 0; how < 3; how++) {
			open_twice(&t, SENNIT_EVENT_AUTO);
			memcpy(t.kinds, channel_waits[i], sizeof(t.kinds));
			t.count = 3;
			t.any = false;
			try_twice(w, &t, how % 2 ? RECEIVE : SEND, how == 2);
		}
	}
}

TEST_WITH_WORKERS(a_channel_selected_twice_one_way_may_be_freed_at_once)
{
	struct twice t;
	unsigned     kind, how;

	for (kind = SEND; kind <= RECEIVE; kind++) {
		for (how = 0; how < 2; how++) {
			open_twice(&t, SENNIT_EVENT_AUTO);
			t.kinds[0] = t.kinds[1] = t.kinds[2] = kind;
			t.count = 3;
			t.any = false;
			try_twice(w, &t, kind, how);
		}
	}
}

TEST_WITH_WORKERS(an_event_standing_twice_may_be_freed_at_once)
{
	static const unsigned waits[][3] = { { EVENT, EVENT, OTHER },
					     { EVENT, OTHER, EVENT },
					     { OTHER, EVENT, EVENT } };
	struct twice          t;
	unsigned              i, how;

	for (i = 0; i < 3; i++) {
		for (how = 0; how < 4; how++) {
			open_twice(&t, how % 2 ? SENNIT_EVENT_AUTO
					       : SENNIT_EVENT_MANUAL);
			memcpy(t.kinds, waits[i], sizeof(t.kinds));
			t.count = 3;
			t.any = how >= 2;
			try_twice(w, &t, EVENT, false);
		}
	}
}

/* An auto event that is set once ends one wait, although the wait names it
 * twice. */
TEST_WITH_WORKERS(an_event_standing_twice_is_taken_once)
{
	struct twice first, second;

	open_twice(&first, SENNIT_EVENT_AUTO);
	first.kinds[0] = first.kinds[1] = EVENT;
	first.count = 2;
	first.any = true;
	second = first;
	must_schedule(wait_twice, &first);
	assert_soon(fibers_of(w->s) == 1);
	must_schedule(wait_twice, &second);
	assert_soon(fibers_of(w->s) == 2);
	sennit_event_set(&first.page->event);
	sennit_wait_group_wait(&first.done);
	assert_int_equal(second.which, 77);
	assert_false(sennit_event_is_set(&first.page->event));
	sennit_event_set(&first.page->event);
	sennit_wait_group_wait(&second.done);
	assert_int_equal(first.which, 0);
	assert_int_equal(second.which, 0);
	sennit_event_destroy(&first.page->event);
	munmap(first.page, sizeof(*first.page));
}

static void try_deadline(void *argument)
{
	const sennit_time soon = sennit_after(SENNIT_MILLISECOND);
	struct twice     *t = argument;
	sennit_event     *events[] = { &t->other, &t->page->event, &t->other };
	sennit_case       cases[] = { case_of(t, SEND), case_of(t, RECEIVE),
				      case_of(t, SEND), case_of(t, EVENT),
				      case_of(t, EVENT) };
	size_t            which;

	EXPECT(sennit_select_until(cases, 5, &which, soon) == -ETIMEDOUT);
	EXPECT(sennit_event_wait_any_until(events, 3, &which, soon) ==
	       -ETIMEDOUT);
	sennit_channel_destroy(&t->page->channel); /* fails if a waiter is
						    * left */
	sennit_event_destroy(&t->page->event);
	sennit_event_destroy(&t->other);
}

TEST_WITH_WORKERS(what_stands_twice_is_left_by_a_deadline)
{
	struct twice t;

	open_twice(&t, SENNIT_EVENT_AUTO);
	in_each_place(try_deadline, &t);
	munmap(t.page, sizeof(*t.page));
}
