/* SPDX-License-Identifier: Apache-2.0 */
/* trace_events_rings.c - what rings keep, and which starts are possible. */
#include "find_metric.h"
#include "sennit/trace.h"

#include <errno.h>

static const char value_name[] = "value";

TEST_WITHOUT(a_full_ring_keeps_the_newest)
{
	const sennit_trace_options small = { .size = sizeof(small),
					     .events = 64 };
	struct trace_file          f;
	int64_t                    expected = 1000 - 63;

	assert_int_equal(sennit_trace_start(w->s, &small), 0);
	for (int64_t i = 0; i < 1000; i++)
		sennit_trace_value(value_name, i);
	f = trace_of(w->s);
	for (size_t i = 0; i < f.ring_count; i++)
		if (f.rings[i].kind == SENNIT_TRACE_RING_BOUND) {
			assert_int_equal(f.rings[i].count, 63);
			/* and the event that says that it started */
			assert_int_equal(f.rings[i].written, 1001);
		}
	for (size_t i = 0; i < f.count; i++)
		if (f.events[i].e.kind == SENNIT_TRACED_VALUE)
			assert_int_equal((int64_t)f.events[i].e.b, expected++);
	assert_int_equal(expected, 1000);
	trace_file_free(&f);
}

TEST_WITH_WORKERS(what_was_stopped_is_kept_and_a_start_forgets_it)
{
	struct trace_file f;

	start(w->s);
	sennit_trace_value(value_name, 1);
	sennit_trace_stop(w->s);
	sennit_trace_value(value_name, 2);
	f = trace_of(w->s);
	assert_int_equal(trace_file_count(&f, SENNIT_TRACED_VALUE, ANY), 1);
	trace_file_free(&f);
	start(w->s);
	f = trace_of(w->s);
	assert_int_equal(trace_file_count(&f, SENNIT_TRACED_VALUE, ANY), 0);
	trace_file_free(&f);
}

TEST_WITH_ONE(impossible_starts_are_refused)
{
	sennit_trace_options options = { .size = sizeof(options),
					 .events = (1u << 24) + 1 };

	assert_int_equal(sennit_trace_write(w->s, 1), -ENOTSUP);
	assert_int_equal(sennit_trace_start(w->s, &options), -EINVAL);
	assert_int_equal(sennit_trace_write(w->s, 1), -ENOTSUP);
	options.events = 100;
	assert_int_equal(sennit_trace_start(w->s, &options), 0);
	options.events = 1000;
	assert_int_equal(sennit_trace_start(w->s, &options), -EINVAL);
	options.events = 128;
	assert_int_equal(sennit_trace_start(w->s, &options), 0);
	assert_int_equal(sennit_trace_start(w->s, NULL), 0);
	assert_int_equal(sennit_trace_write(w->s, -1), -EBADF);
}

TEST_WITH_ONE(two_schedulers_have_no_crash_file_at_once)
{
	const sennit_trace_options crash = { .size = sizeof(crash),
					     .flags = SENNIT_TRACE_CRASH_FD,
					     .crash_fd = 2 };
	sennit_scheduler          *other = start_scheduler(1);

	assert_int_equal(sennit_trace_start(w->s, &crash), 0);
	assert_int_equal(sennit_trace_start(other, &crash), -EBUSY);
	assert_int_equal(sennit_trace_start(other, NULL), 0);
	assert_int_equal(sennit_trace_start(w->s, NULL), 0);
	assert_int_equal(sennit_trace_start(other, &crash), 0);
	end_scheduler(other);
	assert_int_equal(sennit_trace_start(w->s, &crash), 0);
}
