/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.c - sums the spans of the trace, column by column. */
#include "timeline.h"
#include "sennit/trace.h"

#include <errno.h>
#include <stdlib.h>

static sennit_time earlier(sennit_time a, sennit_time b)
{
	return a < b ? a : b;
}

static sennit_time later(sennit_time a, sennit_time b)
{
	return a > b ? a : b;
}

/* Distribute begin..end, in nanoseconds since the begin of the picture, over
 * the columns that it touches. */
static void spread(struct column *row, uint32_t state, double width,
		   double begin, double end)
{
	size_t i = (size_t)(begin / width);
	double edge;

	for (; i < TIMELINE_COLUMNS && begin < end; i++) {
		edge = (double)(i + 1) * width;
		if (edge > end)
			edge = end;
		if (edge > begin) {
			row[i].spent[state] += edge - begin;
			begin = edge;
		}
	}
}

static void add_span(void *context, const sennit_trace_span *span)
{
	struct timeline *t = context;
	double           width;
	sennit_time      begin = later(span->begin, t->begin);
	sennit_time      end = earlier(span->end, t->end);

	/* A steal is so short that its length may be zero. It counts. */
	if (span->state == SENNIT_TRACE_STATE_STEAL && begin == end)
		end++;
	if (span->worker >= t->workers || span->state >= TIMELINE_STATES ||
	    begin >= end)
		return;
	width = (double)(t->end - t->begin) / TIMELINE_COLUMNS;
	spread(t->columns + (size_t)span->worker * TIMELINE_COLUMNS,
	       span->state, width, (double)(begin - t->begin),
	       (double)(end - t->begin));
}

int timeline_collect(struct timeline *t, sennit_scheduler *s, sennit_time begin)
{
	t->workers = sennit_scheduler_workers(s);
	t->begin = begin;
	t->end = sennit_now();
	t->columns = calloc((size_t)t->workers * TIMELINE_COLUMNS,
			    sizeof(struct column));
	if (!t->columns)
		return -ENOMEM;
	return sennit_trace_visit(s, add_span, t);
}

void timeline_free(struct timeline *t)
{
	free(t->columns);
}
