/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - the state of rings and fibers at one moment of a replay.
 *
 * The frames of a fiber are the tasks and spans that it has begun and not
 * ended. While the fiber runs, each frame is a slice on its worker's track. A
 * fiber that never waits would have the same slices on its own track. So a
 * frame gets a slice there only when its fiber waits. Its place among the edges
 * is reserved when the frame begins.
 */
#ifndef APPS_TRACE_FIBER_H
#define APPS_TRACE_FIBER_H

#include "trace/file.h"
#include "trace/timeline.h"

struct frame {
	uint64_t begin;
	uint32_t edge;         /* reserved for the begin of fiber_slice */
	uint32_t kind;         /* enum slice_kind: TASK, SPAN or CALL */
	uint32_t name;         /* as shown */
	uint32_t plain;        /* without the name that the task has set */
	uint32_t task;         /* of tasks: the innermost one, or NONE */
	uint32_t task_frame;   /* the frame of that task */
	uint32_t worker_slice; /* or NONE */
	uint32_t fiber_slice;  /* or NONE */
};

/* A wake whose wait has not been found. */
struct wake {
	uint64_t flow; /* 0: none */
	uint64_t time;
	uint32_t mark;
	uint32_t waker; /* the name */
};

struct fiber {
	uint32_t      ring; /* index of file.rings */
	uint32_t      number;
	uint32_t      track; /* or NONE */
	struct frame *frames;
	uint32_t      frame_count;
	bool          is_running;
	bool          is_listed; /* it is in the list of its ring */
	struct fiber *next;
	uint64_t      since; /* time until which its task's `ran` is counted */

	uint32_t    pause; /* the slice of a wait, or NONE: it does not wait */
	uint32_t    wait;  /* the last wait, or NONE */
	bool        is_woken; /* the waker of that wait is known */
	uint64_t    flow;     /* of that wait */
	struct wake early;    /* a wake before or after its wait: times of
			       * different rings are not exact */
	uint32_t    mark;     /* of the wait's wake, or NONE */

	char *name; /* the pieces of its task's name; NULL: none */
};

struct earlier;

struct ring {
	uint32_t      track; /* or NONE: each thread has its own */
	struct fiber *running;
	uint32_t      idle;   /* the slice of a search or sleep, or NONE */
	struct fiber *fibers; /* those that have frames or wait */
	bool          has_begun;

	const struct earlier *earlier; /* of its fibers */
	uint32_t              earlier_count;
};

struct ring_number {
	uint32_t number; /* in the file */
	uint32_t index;  /* of file.rings */
};

struct replay {
	struct timeline    *time;
	struct file        *file;
	struct ring        *rings;
	struct ring_number *numbers; /* sorted */
	void               *fibers;  /* of tsearch() */
	uint64_t            now;
};

uint32_t replay_edge(struct replay *r);
uint32_t replay_track(struct replay *r, uint32_t kind, const char *name);
uint32_t replay_mark(struct replay *r, uint32_t track, uint32_t kind,
		     uint64_t value);
void     replay_flow(struct replay *r, uint32_t mark, uint32_t slice);
uint32_t replay_open(struct replay *r, uint32_t track, uint32_t kind,
		     uint32_t name, uint32_t outer);
void     replay_close(struct replay *r, uint32_t slice);

/* Returns the fiber, or the thread of the ring of other threads. */
struct fiber *fiber_find(struct replay *r, uint32_t ring, uint32_t number);
void          fiber_free(void *fiber);

/* Return the track on which it runs. */
uint32_t fiber_running_track(struct replay *r, struct fiber *x);

/* Begin and end a frame of a fiber. */
void fiber_push(struct replay *r, struct fiber *x, uint32_t kind,
		uint32_t name);
void fiber_pop(struct replay *r, struct fiber *x);

/* Give it a frame if it has none, because its task began before the trace. */
void fiber_frame(struct replay *r, struct fiber *x);

/* Make x the running fiber of its ring, or stop it. */
void fiber_run(struct replay *r, struct fiber *x);
void fiber_stop(struct replay *r, struct fiber *x);

/* Give its frames slices on its own track. Returns the innermost slice, or
 * NONE. */
uint32_t fiber_show(struct replay *r, struct fiber *x);

/* Count the time until now for its innermost task. */
void fiber_account(struct replay *r, struct fiber *x);

/* Name its innermost task: by an escaped text, or by a part from an event. */
void fiber_set_name(struct replay *r, struct fiber *x, const char *name);
void fiber_rename(struct replay *r, struct fiber *x,
		  const struct file_event *e);

static inline struct frame *fiber_top(const struct fiber *x)
{
	return x->frame_count ? &x->frames[x->frame_count - 1] : NULL;
}

#endif
