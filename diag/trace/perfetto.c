/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.c - writes Perfetto's protobuf, packet by packet.
 *
 * A trace consists only of packets, so several traces of one packet each form a
 * trace. Tracks 1 and 2 are the groups of workers and fibers. The tracks of the
 * timeline follow, then one track for each counter.
 */
#include "trace/output.h"

#include <errno.h>

#ifdef HAVE_PROTOBUF_C

#include "trace/array.h"

#include "perfetto.pb-c.h"

#include <stdlib.h>

enum { GROUPS = 2, SEQUENCE = 1, STATE_IS_CLEARED = 1 };

struct writer {
	FILE                  *out;
	const struct timeline *time;
	unsigned char         *bytes;
	size_t                 room;
	uint32_t              *flow_of_mark;   /* number of its flow, or 0 */
	uint32_t              *first_of_slice; /* index of ids, below */
	uint32_t              *count_of_slice;
	uint64_t              *ids; /* numbers of flows, by slice */
};

static void put_packet(struct writer *w, Perfetto__TracePacket *p)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	size_t          size;

	p->has_trusted_packet_sequence_id = 1;
	p->trusted_packet_sequence_id = SEQUENCE;
	trace.n_packet = 1;
	trace.packet = &p;
	size = perfetto__trace__get_packed_size(&trace);
	if (size > w->room) {
		free(w->bytes);
		w->room = 2 * size;
		w->bytes = array_zeros(w->room, 1);
	}
	perfetto__trace__pack(&trace, w->bytes);
	fwrite(w->bytes, 1, size, w->out);
}

static void put_track(struct writer *w, Perfetto__TrackDescriptor *track,
		      uint64_t number, uint64_t parent)
{
	Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = 1;
	track->uuid = number;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	p.track_descriptor = track;
	put_packet(w, &p);
}

static void put_group(struct writer *w, int number, char *name)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__Process         process = PERFETTO__PROCESS__INIT;

	process.has_pid = 1;
	process.pid = number;
	process.process_name = name;
	track.process = &process;
	put_track(w, &track, (uint64_t)number, 0);
}

/* Write the first packet, which clears the reader's state. */
static void put_begin(struct writer *w)
{
	Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;

	p.has_sequence_flags = 1;
	p.sequence_flags = STATE_IS_CLEARED;
	put_packet(w, &p);
}

static uint64_t track_number(uint32_t track)
{
	return GROUPS + 1 + (uint64_t)track;
}

static uint64_t counter_number(const struct writer *w, uint32_t name)
{
	return track_number(w->time->track_count) + name;
}

static void put_tracks(struct writer *w)
{
	static char workers[] = "workers", fibers[] = "fibers";

	put_begin(w);
	put_group(w, 1, workers);
	put_group(w, 2, fibers);
	for (uint32_t i = 0; i < w->time->track_count; i++) {
		Perfetto__TrackDescriptor track =
			PERFETTO__TRACK_DESCRIPTOR__INIT;

		track.name = w->time->names[w->time->tracks[i].name];
		put_track(w, &track, track_number(i),
			  w->time->tracks[i].kind == TRACK_WORKER ? 1 : 2);
	}
}

static void put_counters(struct writer *w)
{
	unsigned char *is_put = array_zeros(w->time->name_count, 1);

	for (uint32_t i = 0; i < w->time->value_count; i++) {
		Perfetto__TrackDescriptor track =
			PERFETTO__TRACK_DESCRIPTOR__INIT;
		Perfetto__Counter counter = PERFETTO__COUNTER__INIT;
		uint32_t          name = w->time->values[i].name;

		if (is_put[name])
			continue;
		is_put[name] = 1;
		track.name = w->time->names[name];
		track.counter = &counter;
		put_track(w, &track, counter_number(w, name), 1);
	}
	free(is_put);
}

static void put_event(struct writer *w, Perfetto__TrackEvent *e,
		      Perfetto__TrackEvent__Type type, uint64_t track,
		      uint64_t time)
{
	Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;

	e->has_type = 1;
	e->type = type;
	e->has_track_uuid = 1;
	e->track_uuid = track;
	p.has_timestamp = 1;
	p.timestamp = time;
	p.track_event = e;
	put_packet(w, &p);
}

static void put_slice_begin(struct writer *w, uint32_t index)
{
	static char *const categories[SLICE_KINDS] = {
		"task", "span", "wait", "ready", "call", "search", "park"
	};
	const struct slice  *s = &w->time->slices[index];
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;
	char                *category = categories[s->kind];

	e.name = w->time->names[s->name];
	e.n_categories = 1;
	e.categories = &category;
	e.n_terminating_flow_ids = w->count_of_slice[index];
	e.terminating_flow_ids = w->ids + w->first_of_slice[index];
	put_event(w, &e, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN,
		  track_number(s->track), s->begin);
}

static void put_slice_end(struct writer *w, uint32_t index)
{
	const struct slice  *s = &w->time->slices[index];
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;

	put_event(w, &e, PERFETTO__TRACK_EVENT__TYPE__SLICE_END,
		  track_number(s->track), s->end);
}

static void put_mark(struct writer *w, uint32_t index)
{
	static char                count_name[] = "count";
	const struct mark         *m = &w->time->marks[index];
	Perfetto__TrackEvent       e = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation  count = PERFETTO__DEBUG_ANNOTATION__INIT;
	Perfetto__DebugAnnotation *counts = &count;
	uint64_t                   flow = w->flow_of_mark[index];

	e.name = (char *)(uintptr_t)timeline_mark_name(m->kind);
	if (m->kind == MARK_STEAL || m->kind == MARK_LOST) {
		count.name = count_name;
		count.has_uint_value = 1;
		count.uint_value = m->value;
		e.n_debug_annotations = 1;
		e.debug_annotations = &counts;
	}
	e.n_flow_ids = flow != 0;
	e.flow_ids = &flow;
	put_event(w, &e, PERFETTO__TRACK_EVENT__TYPE__INSTANT,
		  track_number(m->track), m->time);
}

static void put_value(struct writer *w, uint32_t index)
{
	const struct value  *v = &w->time->values[index];
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;

	e.has_counter_value = 1;
	e.counter_value = v->value;
	put_event(w, &e, PERFETTO__TRACK_EVENT__TYPE__COUNTER,
		  counter_number(w, v->name), v->time);
}

static void put_edge(struct writer *w, const struct edge *e)
{
	switch (e->kind) {
	case EDGE_BEGIN:
		put_slice_begin(w, e->index);
		break;
	case EDGE_END:
		put_slice_end(w, e->index);
		break;
	case EDGE_MARK:
		put_mark(w, e->index);
		break;
	case EDGE_VALUE:
		put_value(w, e->index);
		break;
	default:
		break;
	}
}

static void index_flows(struct writer *w)
{
	const struct timeline *t = w->time;
	uint32_t               first = 0;

	w->flow_of_mark = array_zeros(t->mark_count, sizeof(uint32_t));
	w->first_of_slice = array_zeros(t->slice_count, sizeof(uint32_t));
	w->count_of_slice = array_zeros(t->slice_count, sizeof(uint32_t));
	w->ids = array_zeros(t->flow_count, sizeof(*w->ids));
	for (uint32_t i = 0; i < t->flow_count; i++)
		w->count_of_slice[t->flows[i].slice]++;
	for (uint32_t i = 0; i < t->slice_count; i++) {
		w->first_of_slice[i] = first;
		first += w->count_of_slice[i];
		w->count_of_slice[i] = 0;
	}
	for (uint32_t i = 0; i < t->flow_count; i++) {
		uint32_t slice = t->flows[i].slice;

		w->flow_of_mark[t->flows[i].mark] = i + 1;
		w->ids[w->first_of_slice[slice] + w->count_of_slice[slice]++] =
			i + 1;
	}
}

int output_perfetto(FILE *out, const struct timeline *t)
{
	struct writer w = { .out = out, .time = t };
	struct edge  *edges = timeline_edges(t);

	index_flows(&w);
	put_tracks(&w);
	put_counters(&w);
	for (uint32_t i = 0; i < t->edges; i++)
		put_edge(&w, &edges[i]);
	free(edges);
	free(w.bytes);
	free(w.flow_of_mark);
	free(w.first_of_slice);
	free(w.count_of_slice);
	free(w.ids);
	return 0;
}

#else

int output_perfetto(FILE *out, const struct timeline *t)
{
	(void)out;
	(void)t;
	return -ENOTSUP;
}

#endif
