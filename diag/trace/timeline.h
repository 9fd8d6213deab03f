/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - the contents of a trace: slices of time on tracks, the waits,
 * the flows between them, marks and values.
 *
 * A track is a row of a picture: a worker's, or a fiber's. The slices of a
 * track are nested: of two, one contains the other or they do not overlap. All
 * times are nanoseconds since the trace began. All strings are escaped as
 * base/text.h describes, so they are UTF-8 without control characters.
 */
#ifndef APPS_TRACE_TIMELINE_H
#define APPS_TRACE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_NONE UINT32_MAX

/* The maximum nesting of slices of a track; deeper ones are dropped. */
#define TIMELINE_DEPTH 64

enum track_kind {
	TRACK_WORKER, /* what a thread runs */
	TRACK_FIBER   /* the states of a fiber */
};

struct track {
	uint32_t kind; /* enum track_kind */
	uint32_t name;
};

enum slice_kind {
	SLICE_TASK,   /* a task; on a worker's track only while it runs there */
	SLICE_SPAN,   /* a span of the program, likewise */
	SLICE_WAIT,   /* on a fiber's track: it waits, until it is woken */
	SLICE_READY,  /* on a fiber's track: woken, until it runs */
	SLICE_CALL,   /* on a fiber's track: it waits for its blocking call */
	SLICE_SEARCH, /* on a worker's track: searches for work */
	SLICE_PARK,   /* on a worker's track: its thread sleeps */
	SLICE_KINDS
};

struct slice {
	uint64_t begin, end;
	uint32_t opened, closed; /* positions among all edges of the timeline */
	uint32_t track;
	uint32_t name;
	uint32_t plain; /* the same, without the name that the task has set */
	uint32_t outer; /* the slice around it, or TIMELINE_NONE */
	uint32_t kind;  /* enum slice_kind */
};

enum mark_kind {
	MARK_STEAL,
	MARK_SPAWN,
	MARK_WAKE,
	MARK_CALL, /* a fiber hands over its blocking call */
	MARK_LOST  /* before this time the track has no events */
};

/* An event without duration. */
struct mark {
	uint64_t time;
	uint32_t at; /* position among all edges */
	uint32_t track;
	uint32_t kind;  /* enum mark_kind */
	uint64_t value; /* number of tasks stolen, or events lost */
};

struct value {
	uint64_t time;
	uint32_t at;
	uint32_t name;
	int64_t  value;
};

/* From a mark to the begin of a slice: from a spawn to the task, from a wake to
 * what resumes, from a call to its function. */
struct flow {
	uint32_t mark;
	uint32_t slice;
};

struct wait {
	uint64_t begin, woken, end;
	uint64_t before;  /* time that it had lasted when its track began */
	uint32_t task;    /* the name of the task that waits */
	uint32_t what;    /* the name of the kind of wait */
	uint32_t waker;   /* the name of the task that woke it, or NONE */
	uint32_t outer;   /* the innermost slice around it, or NONE */
	bool     is_open; /* it lasts until the end of the trace */
};

struct task {
	uint64_t begin, end;
	uint64_t ran; /* without waits, and without tasks called within it */
	uint32_t name;
	bool     has_begun; /* it has begun within the trace */
	bool     has_ended;
};

struct timeline {
	char        **names;
	struct track *tracks;
	struct slice *slices;
	struct mark  *marks;
	struct value *values;
	struct flow  *flows;
	struct wait  *waits;
	struct task  *tasks;
	uint32_t      name_count, track_count, slice_count, mark_count;
	uint32_t      value_count, flow_count, wait_count, task_count;
	uint32_t      edges; /* begins, ends, marks and values */
	uint64_t      length, events, lost;
	uint32_t      workers;
	bool          is_cut; /* the file ends early */
};

void timeline_free(struct timeline *t);

/* Return the name of a mark's kind. */
const char *timeline_mark_name(uint32_t kind);

enum edge_kind { EDGE_NONE, EDGE_BEGIN, EDGE_END, EDGE_MARK, EDGE_VALUE };

struct edge {
	uint32_t kind; /* enum edge_kind */
	uint32_t index;
};

/* Return all t->edges edges, ordered by time. A slice's begin precedes the
 * edges within it, its end follows them. The caller frees them. */
struct edge *timeline_edges(const struct timeline *t);

#endif
