/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.h - the wait-for graph of all schedulers: which fiber waits for
 * which other fiber, and which fibers wait for each other in a circle (a
 * deadlock).
 *
 * The graph knows the holder of a mutex, the writer that holds a reader-writer
 * lock, the fibers that hold one as readers, the fiber that runs the function
 * of a once, and the running members of a group that a fiber waits for. It does
 * not know which fiber or thread will signal an event, condition, channel,
 * semaphore, future or the like, because any may. Of members that run on the
 * same stack inside each other, only the innermost is known.
 *
 * A lock only counts its readers. Each fiber records up to three locks that it
 * holds as a reader; unbound threads record none. The graph knows at most 64
 * readers of a lock. It knows none if more fibers have recorded the lock than
 * it has readers, which happens when a fiber other than the reader unlocks it.
 * In other cases a reader whose lock another fiber has unlocked is taken for a
 * holder.
 *
 * A circle of fibers that wait for each other is a deadlock: none of them runs
 * again, unless a wait ends by a deadline or is cancelled. The graph is made
 * without stopping a thread. Each deadlock that it shows existed at a moment
 * during the call. A deadlock may be missed in its first 10 ms, because waiters
 * of a mutex retry now and then, and when memory cannot be allocated.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_WAIT_GRAPH_H
#define SENNIT_WAIT_GRAPH_H

#include "sennit/report.h"

SENNIT_BEGIN

/* The maximum number of edges of one wait for readers, outside deadlocks. */
#define SENNIT_WAIT_GRAPH_READERS 4

/* The relation of the holder of an edge to the object. */
enum sennit_wait_relation {
	SENNIT_WAIT_OWNER = 0,  /* it holds the lock, or runs the once */
	SENNIT_WAIT_READER = 1, /* it holds the lock as a reader */
	SENNIT_WAIT_MEMBER = 2  /* it is a member of the group */
};

typedef struct sennit_wait_edge {
	size_t   size;   /* sizeof(sennit_wait_edge) in the library's build */
	uint32_t cycle;  /* number of the deadlock to which the edge belongs,
			 * from 1; 0: none */
	uint32_t length; /* number of edges of that deadlock; 0: none */
	const sennit_report_entry
		*waiter; /* a BLOCKED entry; waits_for is the kind of object */
	const sennit_report_entry *holder;   /* the fiber that must act before
					      * the wait can end; NULL: a thread
					      * that is not bound */
	uint32_t                   relation; /* enum sennit_wait_relation */
	const char *waiter_scheduler; /* the names of their schedulers, any
				       * bytes; NULL: no holder */
	const char *holder_scheduler;
} sennit_wait_edge;

/* Call visit(context, edge) for each wait of a fiber of *s whose holder is
 * known, in *s or in another scheduler. If s is NULL, visit the waits of all
 * schedulers. The edges of deadlocks come first: every edge of each deadlock
 * that one of these fibers is in. The edges of one deadlock follow each other,
 * and each one's holder is the next one's waiter. A deadlock of one edge is a
 * fiber that waits for itself: it tries to lock a lock that it, or the task on
 * whose stack it runs (sennit_report_entry.inside), holds. A wait for a group
 * has an edge for each member that runs or waits. The edge and what it points
 * to are valid until visit returns. visit may make any call.
 *
 * The call reads up to 64 schedulers and holds a reference to each. It maps
 * about 400 bytes of memory for each of their fibers and unmaps them before it
 * returns. Returns 0, or -ENOMEM; visit was then not called.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_wait_graph_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_wait_edge *edge),
	void *context);

SENNIT_END

#endif
