/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.h - the wait-for graph of a scheduler: which fiber waits for which
 * other fiber, and which fibers wait for each other in a circle.
 *
 * The graph knows the holder of a mutex, the writer that holds a reader-writer
 * lock, the fiber that runs the function of a once, and the running members of
 * a group that a fiber waits for. It does not know who will signal an event,
 * condition, channel, semaphore, future or the like, because any fiber or
 * thread may. Readers of a reader-writer lock are only counted. Of members that
 * run on the same stack inside each other, only the innermost is known.
 *
 * A circle of fibers that wait for each other is a deadlock: none of them runs
 * again, unless a wait ends by a deadline or is cancelled. The graph is made
 * without stopping anybody. A deadlock that it shows did exist at a moment
 * during the call. A deadlock may be missed in its first 10 ms, because waiters
 * of a mutex look at it now and then, and when the call finds no memory.
 */
#ifndef SENNIT_WAIT_GRAPH_H
#define SENNIT_WAIT_GRAPH_H

#include "sennit/report.h"

SENNIT_BEGIN

typedef struct sennit_wait_edge {
	size_t   size;  /* sizeof(sennit_wait_edge) in the library's build */
	uint32_t cycle; /* number of the deadlock that the edge belongs to, from
			 * 1; 0: none */
	uint32_t length; /* number of edges of that deadlock; 0: none */
	const sennit_report_entry
		*waiter; /* blocked: waits_for says for what */
	const sennit_report_entry *holder; /* a fiber of the scheduler without
					    * which the wait does not end; NULL:
					    * a fiber or thread outside the
					    * scheduler */
} sennit_wait_edge;

/* Call visit(context, edge) for each wait whose holder is known. The edges of
 * deadlocks come first. The edges of one deadlock follow each other, and each
 * one's holder is the next one's waiter. A wait for a group has an edge for
 * each member that runs or waits. The edge and its entries are valid until
 * visit returns. What visit must not do is as in sennit_scheduler_report. The
 * call maps about 250 bytes of memory for each fiber and frees them.
 * Returns 0, or -ENOMEM; visit was then not called.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_wait_graph(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_wait_edge *edge),
	void *context);

SENNIT_END

#endif
