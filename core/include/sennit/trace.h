/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - a trace: what each worker, bound thread and fiber did at which
 * time, and which task woke which other task.
 *
 *	sennit_trace_start(s, NULL);
 *	...
 *	sennit_trace_write(s, fd);
 *	sennit_trace_stop(s);
 *
 * Each thread records its latest events in its own ring: begin and end of
 * tasks, spawns, waits, wakes, steals, sleep, blocking calls, and the program's
 * own spans and counters. While recording is off, the cost is not measurable.
 * sennit-trace(1) shows the file as tables and pictures; trace_format.h
 * describes it. A scheduler whose config.trace_events is not 0 records from its
 * creation on, like a flight recorder.
 *
 * Names of functions come from sennit_function_set_name() or from the symbols
 * that the program exports (-rdynamic). A file that is written while the
 * library aborts the process names a function by its file and offset, and
 * contains what a fiber waits for only if an event in a ring records it. The
 * output of SENNIT_DEBUG=fatal is complete. A trace does not contain calls of
 * fork_join.h that no other worker took, nor waits of unbound threads.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_TRACE_H
#define SENNIT_TRACE_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

/* The default number of events that each ring keeps. An event takes 32
 * bytes. */
#define SENNIT_TRACE_EVENTS 16384

/* A flag of sennit_trace_options: crash_fd is set. */
#define SENNIT_TRACE_CRASH_FD UINT32_C(1)

typedef struct sennit_trace_options {
	size_t   size; /* sizeof(sennit_trace_options) in the caller's build */
	uint32_t events; /* number of events that each ring keeps, rounded up to
			  * a power of two, 64 at least and 2^24 at most. 0: the
			  * number of the first start, or SENNIT_TRACE_EVENTS */
	uint32_t flags;  /* SENNIT_TRACE_CRASH_FD, or 0 */
	int crash_fd; /* with SENNIT_TRACE_CRASH_FD: a file descriptor to which
		       * the rings are written when the library aborts the
		       * process after misuse or detects a stack overflow. The
		       * program owns it and keeps it open */
	uint32_t reserved_; /* must be 0 */
} sennit_trace_options;

#define SENNIT_TRACE_OPTIONS(...)              \
	SENNIT_CONSTANT_(sennit_trace_options, \
			 .size = sizeof(sennit_trace_options), __VA_ARGS__)

/* Start recording. If options is NULL, all have their
 * defaults. Events of an earlier recording
 * are dropped. A thread that runs a task records from its next spawn, wait or
 * task on. Tasks and waits that began earlier have no begin event, but the
 * trace contains what they are, and since when each fiber waits. The start
 * costs nothing for fibers that wait, and little for each that is ready. The
 * rings are allocated once and stay until the scheduler ends. A thread that is
 * bound later is not recorded if memory for its ring cannot be allocated.
 * Returns 0, -EINVAL if `events` is too large or differs from that of the first
 * start, a flag is unknown or reserved_ is not 0, -E2BIG as
 * sennit_scheduler_create does, -EBUSY if another scheduler has a crash_fd, or
 * -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_trace_start(
	sennit_scheduler *s, const sennit_trace_options *options);

/* Stop recording. Recorded events are kept and can be written. A thread that
 * runs a task stops at its next dispatch.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_trace_stop(sennit_scheduler *s);

/* Write the recorded events to the file descriptor, which the caller owns, in
 * the format of trace_format.h. Workers may run and record meanwhile; an event
 * that they overwrite is left out. Names are looked up during the call:
 * functions that are no longer loaded get no name. Returns 0, -ENOTSUP if *s
 * has never recorded, -ENOMEM, or the error of write(2), after which the file
 * is incomplete.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API SENNIT_MUST_USE int sennit_trace_write(sennit_scheduler *s, int fd);

/* Begin or end a span of the program, such as a request, on the calling fiber.
 * Spans nest; each must end on the fiber on which it began. `name` is not
 * copied. It must stay unchanged and readable, as a string literal does, until
 * the trace is no longer written. The calls do nothing on a thread that is not
 * bound, and while recording is off.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_trace_begin(const char *name);
SENNIT_API void sennit_trace_end(void);

/* Set the program's counter `name` to v from now on. `name` must stay valid as
 * in sennit_trace_begin. The call does nothing on a thread that is not bound,
 * and while recording is off.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_trace_value(const char *name, int64_t v);

/* What a worker does during a span. */
enum sennit_trace_state {
	SENNIT_TRACE_STATE_RUN = 0,   /* runs tasks and fibers */
	SENNIT_TRACE_STATE_STEAL = 1, /* got work from another worker */
	SENNIT_TRACE_STATE_SPIN = 2,  /* searches for work */
	SENNIT_TRACE_STATE_PARK = 3   /* sleeps */
};

typedef struct sennit_trace_span {
	size_t      size;   /* sizeof(sennit_trace_span) in the library's
			     * build */
	uint32_t    worker; /* index of the worker thread */
	uint32_t    state;  /* enum sennit_trace_state */
	sennit_time begin;
	sennit_time end;
} sennit_trace_span;

/* Call visit(context, span) for every span of the recorded events, worker by
 * worker, oldest first. The last span of each worker ends at the time of the
 * call, or when recording was stopped. A span that a worker overwrites during
 * the call is left out. Workers whose thread has not started and bound threads
 * have no spans. visit runs on the caller's stack and must not block. Returns
 * 0, or -ENOTSUP if *s has never recorded.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_trace_visit(sennit_scheduler *s,
				  void (*visit)(void *context,
						const sennit_trace_span *span),
				  void *context);

SENNIT_END

#endif
