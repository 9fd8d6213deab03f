/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - a record of what each worker did at which time.
 *
 * A scheduler that is created with trace_events > 0 keeps the last trace_events
 * changes of state of each worker. It records only the changes between idle and
 * busy, so a busy worker has no cost. Bound threads are not recorded.
 */
#ifndef SENNIT_TRACE_H
#define SENNIT_TRACE_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

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

/* Call visit(context, span) for every span that *s has kept, worker by worker,
 * oldest first. The last span of each worker ends now. A span that a worker
 * overwrites during the call is left out. A worker whose thread has not started
 * has no span. visit runs on the caller's stack and must not block.
 * Returns 0, -ENOTSUP if *s was created without tracing, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_trace_visit(sennit_scheduler *s,
				  void (*visit)(void *context,
						const sennit_trace_span *span),
				  void *context);

SENNIT_END

#endif
