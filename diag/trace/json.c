/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - writes Chrome's trace events, ordered by time.
 *
 * Workers are the threads of a process 1, and fibers those of a process 2. A
 * flow begins in the slice around its mark and ends in the slice that begins at
 * its time.
 */
#include "trace/array.h"
#include "trace/output.h"
#include "trace/text.h"

#include <inttypes.h>
#include <stdlib.h>

struct json {
	FILE                  *out;
	const struct timeline *time;
	uint32_t              *flow_of_mark;  /* or TIMELINE_NONE */
	uint32_t              *flow_of_slice; /* the last one, likewise */
	uint32_t              *next;          /* of the same slice */
};

static const char *const categories[SLICE_KINDS] = { "task",  "span", "wait",
						     "ready", "call", "search",
						     "park" };

/* Print microseconds, exactly. */
static void put_time(FILE *out, const char *field, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", field, ns / 1000,
		(unsigned int)(ns % 1000));
}

static void put_place(const struct json *j, uint32_t track, uint64_t time)
{
	fprintf(j->out, ",\"pid\":%d,\"tid\":%" PRIu32,
		j->time->tracks[track].kind == TRACK_WORKER ? 1 : 2, track);
	put_time(j->out, "ts", time);
}

static void put_metadata(const struct json *j, int process, uint32_t track,
			 const char *what, const char *name)
{
	fprintf(j->out,
		"{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
		",\"name\":\"%s\",\"args\":{\"name\":",
		process, track, what);
	text_json(j->out, name);
	fputs("}},\n", j->out);
}

static void put_tracks(const struct json *j)
{
	const struct timeline *t = j->time;

	put_metadata(j, 1, 0, "process_name", "workers");
	put_metadata(j, 2, 0, "process_name", "fibers");
	for (uint32_t i = 0; i < t->track_count; i++)
		put_metadata(j, t->tracks[i].kind == TRACK_WORKER ? 1 : 2, i,
			     "thread_name", t->names[t->tracks[i].name]);
}

static void put_flow(const struct json *j, uint32_t flow, bool is_begin)
{
	const struct flow  *f = &j->time->flows[flow];
	const struct mark  *m = &j->time->marks[f->mark];
	const struct slice *s = &j->time->slices[f->slice];

	fprintf(j->out,
		"{\"ph\":\"%s,\"id\":%" PRIu32
		",\"cat\":\"flow\",\"name\":\"%s\"",
		is_begin ? "s\"" : "f\",\"bp\":\"e\"", flow,
		timeline_mark_name(m->kind));
	if (is_begin)
		put_place(j, m->track, m->time);
	else
		put_place(j, s->track, s->begin);
	fputs("},\n", j->out);
}

static void put_slice(const struct json *j, uint32_t index)
{
	const struct slice *s = &j->time->slices[index];

	fprintf(j->out,
		"{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", categories[s->kind]);
	text_json(j->out, j->time->names[s->name]);
	put_place(j, s->track, s->begin);
	put_time(j->out, "dur", s->end - s->begin);
	fputs("},\n", j->out);
	for (uint32_t i = j->flow_of_slice[index]; i != TIMELINE_NONE;
	     i = j->next[i])
		put_flow(j, i, false);
}

static void put_mark(const struct json *j, uint32_t index)
{
	const struct mark *m = &j->time->marks[index];

	fprintf(j->out, "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\"",
		timeline_mark_name(m->kind));
	put_place(j, m->track, m->time);
	if (m->kind == MARK_STEAL || m->kind == MARK_LOST)
		fprintf(j->out, ",\"args\":{\"count\":%" PRIu64 "}", m->value);
	fputs("},\n", j->out);
	if (j->flow_of_mark[index] != TIMELINE_NONE)
		put_flow(j, j->flow_of_mark[index], true);
}

static void put_value(const struct json *j, uint32_t index)
{
	const struct value *v = &j->time->values[index];

	fputs("{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"name\":", j->out);
	text_json(j->out, j->time->names[v->name]);
	put_time(j->out, "ts", v->time);
	fprintf(j->out, ",\"args\":{\"value\":%" PRId64 "}},\n", v->value);
}

static void put_edges(const struct json *j, const struct edge *edges)
{
	for (uint32_t i = 0; i < j->time->edges; i++) {
		if (edges[i].kind == EDGE_BEGIN)
			put_slice(j, edges[i].index);
		else if (edges[i].kind == EDGE_MARK)
			put_mark(j, edges[i].index);
		else if (edges[i].kind == EDGE_VALUE)
			put_value(j, edges[i].index);
	}
}

static uint32_t *nones(uint32_t count)
{
	uint32_t *array = array_zeros(count, sizeof(*array));

	for (uint32_t i = 0; i < count; i++)
		array[i] = TIMELINE_NONE;
	return array;
}

static void index_flows(struct json *j)
{
	const struct timeline *t = j->time;

	for (uint32_t i = 0; i < t->flow_count; i++) {
		j->flow_of_mark[t->flows[i].mark] = i;
		j->next[i] = j->flow_of_slice[t->flows[i].slice];
		j->flow_of_slice[t->flows[i].slice] = i;
	}
}

int output_json(FILE *out, const struct timeline *t)
{
	struct json  j = { .out = out, .time = t };
	struct edge *edges = timeline_edges(t);

	j.flow_of_mark = nones(t->mark_count);
	j.flow_of_slice = nones(t->slice_count);
	j.next = nones(t->flow_count);
	index_flows(&j);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	put_tracks(&j);
	put_edges(&j, edges);
	fprintf(out,
		"{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"trace\","
		"\"args\":{\"events\":%" PRIu64 ",\"lost\":%" PRIu64
		",\"cut\":%s}}\n]}\n",
		t->events, t->lost, t->is_cut ? "true" : "false");
	free(edges);
	free(j.flow_of_mark);
	free(j.flow_of_slice);
	free(j.next);
	return 0;
}
