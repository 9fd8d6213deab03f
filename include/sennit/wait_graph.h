/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.h - the wait-for graph of all schedulers: which fiber waits for
 * which other fiber, and which fibers wait for each other in a circle.
 *
 * The graph knows the holder of a mutex, the writer that holds a reader-writer
 * lock, the fibers that hold one as readers, the fiber that runs the function
 * of a once, and the running members of a group that a fiber waits for. It does
 * not know who will signal an event, condition, channel, semaphore, future or
 * the like, because any fiber or thread may. Of members that run on the same
 * stack inside each other, only the innermost is known.
 *
 * A lock only counts its readers. Each fiber remembers three locks that it
 * holds as a reader, unbound threads none. The graph knows 64 readers of a lock
 * at most, and none if more fibers remember it than it has readers: then some
 * have let others unlock it. A reader that does so is taken for the one that
 * holds the lock.
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

/* The edges of one wait for readers, outside of deadlocks, at most. */
#define SENNIT_WAIT_GRAPH_READERS 4

/* What the holder of an edge does. */
enum sennit_wait_relation {
	SENNIT_WAIT_OWNER = 0,  /* it holds the lock, or runs the once */
	SENNIT_WAIT_READER = 1, /* it holds the lock as a reader */
	SENNIT_WAIT_MEMBER = 2  /* it is a member of the group */
};

typedef struct sennit_wait_edge {
	size_t   size;  /* sizeof(sennit_wait_edge) in the library's build */
	uint32_t cycle; /* number of the deadlock that the edge belongs to, from
			 * 1; 0: none */
	uint32_t length; /* number of edges of that deadlock; 0: none */
	const sennit_report_entry
		*waiter; /* blocked: waits_for says for what */
	const sennit_report_entry *holder;   /* a fiber without which the wait
					    * does not end; NULL: a thread that
					    * is not bound */
	uint32_t                   relation; /* enum sennit_wait_relation */
	const char *waiter_scheduler; /* the names of their schedulers, any
				       * bytes; NULL: no holder */
	const char *holder_scheduler;
} sennit_wait_edge;

/* Call visit(context, edge) for each wait of a fiber of *s whose holder is
 * known, in *s or in another scheduler. s NULL: of all schedulers. The edges of
 * deadlocks come first: all of a deadlock that one of these fibers is in. The
 * edges of one deadlock follow each other, and each one's holder is the next
 * one's waiter. A deadlock of one edge is a fiber that waits for itself: it
 * wants to lock again what it, or the task on whose stack it runs
 * (sennit_report_entry.inside), has locked. A wait for a group has an edge for
 * each member that runs or waits. The edge and what it points to are valid
 * until visit returns, which may call everything.
 *
 * The call reads up to 64 schedulers and holds a reference to each. It maps
 * about 400 bytes of memory for each of their fibers and frees them.
 * Returns 0, or -ENOMEM; visit was then not called.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_wait_graph(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_wait_edge *edge),
	void *context);

SENNIT_END

#endif
