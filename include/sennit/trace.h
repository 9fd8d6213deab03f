/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - a trace: what each worker, bound thread and fiber did at which
 * time, and which task woke which.
 *
 *	sennit_trace_start(s, NULL);
 *	...
 *	sennit_trace_write(s, fd);
 *	sennit_trace_stop(s);
 *
 * Each thread records its last events into a ring of its own: begin and end of
 * tasks, spawns, waits, wakes, steals, sleep, blocking calls, and the program's
 * own spans and counters. While nothing is recorded, this costs nothing
 * measurable. sennit-trace(1) shows the file as tables and pictures;
 * trace_format.h describes it. A scheduler whose config.trace_events is not 0
 * records from its creation on, as a flight recorder does.
 *
 * Names of functions come from sennit_task_set_name() or from the symbols that
 * the program exports (-rdynamic). In the file that is written while the
 * library aborts the process, a function is named by its file and its place
 * there, and what a fiber waits for is known only if an event in a ring tells:
 * SENNIT_DEBUG=fatal has all. A trace does not contain calls of fork_join.h
 * that no other worker took, and waits of unbound threads.
 */
#ifndef SENNIT_TRACE_H
#define SENNIT_TRACE_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

/* The number of events that each ring keeps by default. An event takes 32
 * bytes. */
#define SENNIT_TRACE_EVENTS 16384

typedef struct sennit_trace_options {
	uint32_t events; /* that each ring keeps: rounded up to a power of two,
			   * 64 at least. 0: SENNIT_TRACE_EVENTS, or as many as
			   * before. At most 2^24 */
	int crash_fd; /* a file descriptor to which the rings are written when
		       * the library aborts the process after misuse, or finds
		       * that a stack has overflowed; -1: none. It belongs to
		       * the program and must stay open */
} sennit_trace_options;

/* Start recording. NULL stands for { 0, -1 }. Events of an earlier recording
 * are dropped. A thread that runs a task records from its next spawn, wait or
 * task on. Tasks and waits that began before have no begin in the trace, but
 * what they are is in it, and since when a fiber waits. The start does nothing
 * for fibers that wait, and little for each that is ready. The rings
 * are allocated once and stay until the scheduler ends. A thread that is bound
 * later and for which there is no memory is not recorded.
 * Returns 0, -EINVAL if `events` is too large or differs from that of the first
 * start, -EBUSY if another scheduler has a crash_fd, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_trace_start(
	sennit_scheduler *s, const sennit_trace_options *options);

/* Stop recording. The recorded events stay and can be written. A thread that
 * runs a task stops at its next dispatch.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_trace_stop(sennit_scheduler *s);

/* Write the recorded events to the file descriptor, in the format of
 * trace_format.h. Workers may run and record meanwhile; an event that they
 * overwrite is left out. Names are looked up during the call: functions that
 * are no longer loaded get none.
 * Returns 0, -ENOTSUP if *s has never recorded, -ENOMEM, or the error of
 * write(2), after which the file is incomplete.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API SENNIT_MUST_USE int sennit_trace_write(sennit_scheduler *s, int fd);

/* The calling fiber begins or ends a span of the program, for example a
 * request. Spans nest; each must end on the fiber on which it began. `name` is
 * not copied: it must stay unchanged and readable, as a string literal does,
 * until nobody writes the trace any more. The calls do nothing on a thread that
 * is not bound, and while nothing is recorded.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_trace_begin(const char *name);
SENNIT_API void sennit_trace_end(void);

/* The program's counter `name` has the value v from now on. The same holds for
 * `name` and for threads that are not bound.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_trace_value(const char *name, int64_t v);

/* What a worker does. */
enum sennit_trace_state {
	SENNIT_TRACE_RUN = 0,   /* runs tasks and fibers */
	SENNIT_TRACE_STEAL = 1, /* got work from another worker */
	SENNIT_TRACE_SPIN = 2,  /* searches for work */
	SENNIT_TRACE_PARK = 3   /* sleeps */
};

typedef struct sennit_trace_span {
	uint32_t    worker; /* index of the worker thread */
	uint32_t    state;  /* enum sennit_trace_state */
	sennit_time begin;
	sennit_time end;
} sennit_trace_span;

/* Call visit(context, span) for every span of the recorded events, worker by
 * worker, oldest first. The last span of each worker ends now, or when the
 * recording was stopped. A span that a worker overwrites during the call is
 * left out. A worker whose thread has not started has no span, nor have bound
 * threads. visit runs on the caller's stack and must not block.
 * Returns 0, or -ENOTSUP if *s has never recorded.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_trace_visit(sennit_scheduler *s,
				  void (*visit)(void *context,
						const sennit_trace_span *span),
				  void *context);

SENNIT_END

#endif
