/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - what each worker did when.
 *
 * A scheduler created with trace_events > 0 keeps, per worker, its last so many
 * changes of state. Only going idle and getting busy are recorded, so a busy
 * worker pays nothing. Bound threads are not recorded.
 */
#ifndef SENNIT_TRACE_H
#define SENNIT_TRACE_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

enum sennit_trace_state {
	SENNIT_TRACE_RUN = 0,   /* running tasks and fibers */
	SENNIT_TRACE_STEAL = 1, /* got work from another worker */
	SENNIT_TRACE_SPIN = 2,  /* looking for work */
	SENNIT_TRACE_PARK = 3   /* asleep */
};

typedef struct sennit_trace_span {
	uint32_t    worker; /* index of the worker thread */
	uint32_t    state;  /* enum sennit_trace_state */
	sennit_time begin;
	sennit_time end;
} sennit_trace_span;

/* Call visit(context, span) for every span kept of *s, worker by worker,
 * oldest first; the last span of each worker ends now. A span that a worker
 * overwrites meanwhile is left out, and a worker whose thread has yet to begin
 * has none. visit runs on the caller's stack and must not block.
 * Returns 0, -ENOTSUP when *s was created without tracing, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_trace_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_trace_span *span),
	void *context);

SENNIT_END

#endif
