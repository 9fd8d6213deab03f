/* SPDX-License-Identifier: Apache-2.0 */
/* trace_ring.c - readers get whole events, in order, while more are written. */
#include "observe/trace.h"

#include "testing/random.h"

#include <pthread.h>
#include "testing/test.h"

enum { CAPACITY = 8, LARGEST = 256 };

/* Event n in every test. */
static void add(struct trace_ring *r, uint64_t n)
{
	sn_trace_ring_add(r, (uint32_t)n, SENNIT_TRACED_VALUE, n & 0xffff,
			  n * 3, n * 5);
}

static bool is_event(const struct sennit_trace_event *e, uint64_t n)
{
	return e->fiber == (uint32_t)n && e->kind == SENNIT_TRACED_VALUE &&
	       e->detail == (uint16_t)n && e->a == n * 3 && e->b == n * 5;
}

static void expect_range(struct trace_ring *r, uint64_t begin, uint64_t end)
{
	uint64_t b, e;

	sn_trace_ring_range(r, &b, &e);
	assert_int_equal(b, begin);
	assert_int_equal(e, end);
	for (uint64_t i = b; i < e; i++) {
		struct sennit_trace_event event;

		sn_trace_ring_read(r, i, &event);
		assert_true(is_event(&event, i));
	}
}

/* The owner may be writing the oldest slot, so a reader gets one event less
 * than the capacity. */
TEST(a_full_ring_keeps_the_newest)
{
	struct trace_ring *r = sn_trace_ring_make(CAPACITY);

	assert_non_null(r);
	expect_range(r, 0, 0);
	for (uint64_t n = 0; n < 5 * CAPACITY; n++) {
		add(r, n);
		expect_range(r, n + 1 < CAPACITY ? 0 : n + 2 - CAPACITY, n + 1);
	}
	sn_trace_ring_free(r);
}

TEST(the_parts_of_an_event_do_not_mix)
{
	struct trace_ring        *r = sn_trace_ring_make(CAPACITY);
	struct sennit_trace_event e;

	assert_non_null(r);
	sn_trace_ring_add(r, UINT32_MAX, 0, UINT16_MAX, 0, UINT64_MAX);
	sn_trace_ring_add(r, 0, UINT16_MAX, 0, UINT64_MAX, 0);
	sn_trace_ring_read(r, 0, &e);
	assert_true(e.fiber == UINT32_MAX && !e.kind &&
		    e.detail == UINT16_MAX && !e.a && e.b == UINT64_MAX);
	sn_trace_ring_read(r, 1, &e);
	assert_true(!e.fiber && e.kind == UINT16_MAX && !e.detail &&
		    e.a == UINT64_MAX && !e.b);
	sn_trace_ring_free(r);
}

TEST(what_was_before_the_beginning_is_forgotten)
{
	struct trace_ring *r = sn_trace_ring_make(CAPACITY);

	assert_non_null(r);
	add(r, 0);
	sn_trace_ring_begin(r);
	expect_range(r, 1, 1);
	add(r, 1);
	expect_range(r, 1, 2);
	sn_trace_ring_free(r);
}

TEST(an_event_that_was_overwritten_is_none)
{
	struct trace_ring        *r = sn_trace_ring_make(CAPACITY);
	struct sennit_trace_event e;

	assert_non_null(r);
	for (uint64_t n = 0; n < CAPACITY; n++)
		add(r, n);
	sn_trace_ring_read(r, 0, &e);
	assert_int_equal(e.kind, SENNIT_TRACED_NONE);
	sn_trace_ring_read(r, 1, &e);
	assert_true(is_event(&e, 1));
	sn_trace_ring_free(r);
}

/* --- while it is written ------------------------------------------------- */

struct writer {
	struct trace_ring *ring;
	uint64_t           events;
	a_u32              done;
};

static void *write_events(void *argument)
{
	struct writer *w = argument;
	uint64_t       random = random_stream(1);

	for (uint64_t n = 0; n < w->events; n++) {
		add(w->ring, n);
		/* Bursts of all lengths. */
		if (random_below(&random, 64) == 0)
			for (uint32_t i = random_below(&random, 256); i; i--)
				a_pause();
	}
	a_store_rel(&w->done, 1);
	return NULL;
}

/* The number of events that are neither whole nor marked as overwritten. */
static uint64_t unsound(struct trace_ring *r)
{
	uint64_t begin, end, wrong = 0;

	sn_trace_ring_range(r, &begin, &end);
	for (uint64_t i = begin; i < end; i++) {
		struct sennit_trace_event e;

		sn_trace_ring_read(r, i, &e);
		wrong += e.kind != SENNIT_TRACED_NONE && !is_event(&e, i);
	}
	return wrong;
}

static void read_while_writing(uint64_t capacity)
{
	struct writer w = { .events = scaled(200000) };
	pthread_t     thread;
	uint64_t      wrong = 0;

	w.ring = sn_trace_ring_make(capacity);
	assert_non_null(w.ring);
	assert_int_equal(pthread_create(&thread, NULL, write_events, &w), 0);
	while (!a_load_acq(&w.done))
		wrong += unsound(w.ring);
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
	assert_int_equal(unsound(w.ring), 0);
	sn_trace_ring_free(w.ring);
}

TEST(events_are_whole_while_more_are_written)
{
	random_stream(0); /* chooses the seed before there are several
			   * threads */
	for (uint64_t capacity = 1; capacity <= LARGEST; capacity *= 4)
		read_while_writing(capacity);
}
