/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - pairs events of the same flow: the oldest source with the oldest
 * sink.
 *
 * Equal tasks have equal flows. If a ring has lost its oldest events, sources
 * from before that time may have lost their sinks. They would be paired with
 * the sinks of later sources, and so on. So they are left out.
 *
 * A spawn is recorded before its task can begin. The wait for a blocking call
 * is recorded when the call is handed over, so its function may already have
 * begun.
 */
#include "trace/pairs.h"

#include "trace/array.h"

#include <sennit/report.h>
#include <sennit/trace_format.h>

#include <stdlib.h>

/* Times of different rings that differ by less may be in the wrong order. */
enum { SLACK_NS = 1000 };

struct end {
	uint64_t flow;
	uint32_t is_call; /* flows of waits are numbered separately */
	uint32_t event;
};

struct ends {
	struct end *ends;
	uint32_t    count;
};

static int compare(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->is_call != y->is_call)
		return x->is_call ? 1 : -1;
	if (x->flow != y->flow)
		return x->flow < y->flow ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static int compare_flows(const struct end *x, const struct end *y)
{
	if (x->is_call != y->is_call)
		return x->is_call ? 1 : -1;
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static void add(struct ends *e, uint64_t flow, bool is_call, uint32_t event)
{
	uint32_t at;

	if (!flow)
		return;
	at = ARRAY_ADD(e->ends, e->count);
	e->ends[at] = (struct end){ flow, is_call, event };
}

/* Return the time after which no ring has lost events. */
static uint64_t horizon(const struct file *f)
{
	bool    *is_seen = array_zeros(f->ring_count, sizeof(*is_seen));
	uint64_t time = 0;

	for (uint32_t i = 0; i < f->event_count; i++) {
		const struct file_event *e = &f->events[i];

		if (!is_seen[e->ring] && f->rings[e->ring].lost)
			time = e->time;
		is_seen[e->ring] = true;
	}
	free(is_seen);
	return time;
}

static void collect(const struct file *f, struct ends *sources,
		    struct ends *sinks)
{
	uint64_t from = horizon(f);

	for (uint32_t i = 0; i < f->event_count; i++) {
		const struct file_event *e = &f->events[i];

		if (e->kind == SENNIT_TRACED_TASK_BEGIN)
			add(sinks, e->b, false, i);
		else if (e->kind == SENNIT_TRACED_CALL_BEGIN)
			add(sinks, e->b, true, i);
		else if (e->time < from)
			continue;
		else if (e->kind == SENNIT_TRACED_SPAWN)
			add(sources, e->b, false, i);
		else if (e->kind == SENNIT_TRACED_WAIT &&
			 e->detail == SENNIT_WAITS_FOR_CALL)
			add(sources, e->b, true, i);
	}
}

static void sort(struct ends *e)
{
	if (e->count)
		qsort(e->ends, e->count, sizeof(*e->ends), compare);
}

static void match(const struct file *f, const struct ends *sources,
		  const struct ends *sinks, uint32_t *partners)
{
	const struct end *s = sources->ends;
	const struct end *last = s + sources->count;

	for (uint32_t i = 0; i < sinks->count; i++) {
		const struct end *sink = &sinks->ends[i];

		while (s != last && compare_flows(s, sink) < 0)
			s++;
		if (s != last && !compare_flows(s, sink) &&
		    (s->is_call ||
		     f->events[s->event].time <=
			     f->events[sink->event].time + SLACK_NS))
			partners[sink->event] = (s++)->event;
	}
}

uint32_t *pairs_find(const struct file *f)
{
	uint32_t   *partners = array_zeros(f->event_count, sizeof(*partners));
	struct ends sources = { NULL, 0 }, sinks = { NULL, 0 };

	for (uint32_t i = 0; i < f->event_count; i++)
		partners[i] = UINT32_MAX;
	collect(f, &sources, &sinks);
	sort(&sources);
	sort(&sinks);
	if (sources.count)
		match(f, &sources, &sinks, partners);
	free(sources.ends);
	free(sinks.ends);
	return partners;
}
