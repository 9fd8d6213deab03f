/* SPDX-License-Identifier: Apache-2.0 */
/* worker_threads.h - which workers there are: started, closed, retired.
 *
 *	inactive --started--> open --closed--> closed --nothing left--> inactive
 *	                    |  ^                |
 *	        idle for    |  +- called back --+
 *	        long        +----> retired (open, no thread) --started--> open
 *
 *	0 ........ open ............ target ............ capacity
 *	take work  threadless: started at need   not wanted: inactive or closed
 *
 * A closed worker hands its tasks to the open ones, is asleep only where
 * fibers' wakes come, and stays active in the gate until it has nothing left
 * that only it can do. Then its thread ends as at the scheduler's end; the
 * record stays, with one stack, for the next thread.
 *
 * Invariants
 *   - 1 <= open <= target <= capacity; without threadless ones open is target.
 *   - `retired` of the open ones have no thread, and no task that others could
 *     not take; at least one has. Threadless are these and open to target.
 *   - No worker from `extent` on has a thread or a task.
 *   - A task sent to a worker that closes meanwhile is seen by the sender or by
 *     whoever closes it: one store and one push, a fence each, and a look.
 *   - Only the holder of `counts.lock` changes these numbers and
 *     `thread.present`, so a worker either leaves or is called back.
 *   - A task sent to a worker that retires meanwhile lies where every searcher
 *     looks, and its sender wakes or starts one; if no thread can be had, hands
 *     it to a worker that has one.
 *   - Who starts is active or holds a reference: the gate cannot refuse it.
 */
#ifndef SN_WORKER_THREADS_H
#define SN_WORKER_THREADS_H

#include "worker/worker.h"

/* Have `count` workers, 1 to capacity. 0 or -EAGAIN: the number is as before.
 */
SENNIT_MUST_USE int sn_worker_threads_resize(sennit_scheduler *s,
					     uint32_t          count);

/* What parking calls when nobody else can be woken: start a threadless
 * worker. */
void sn_worker_threads_start_one(struct parking *p);

/* Put a parcel's node into the inbox of the next worker in turn, and wake one
 * who may run it. */
void sn_worker_threads_send(sennit_scheduler *s, struct node *n);

/* The same for a chain of `count` that leads from its newest node to its
 * oldest: so many workers in turn get a run of neighbours each; 1 <= ways <=
 * count. */
void sn_worker_threads_send_many(sennit_scheduler *s, struct node *newest,
				 struct node *oldest, uint32_t count,
				 uint32_t ways);

/* Leave a chain that leads from its newest node to its oldest in the inbox of
 * `to`, or, if that has closed, of another. The caller wakes who is to come. */
void sn_worker_threads_leave_with(struct worker *to, struct node *newest,
				  struct node *oldest);

/* Learn whether w, the caller's, is closed; if so hand all its tasks on that
 * others may run. */
bool sn_worker_threads_check(struct worker *w);

/* w, closed, has nothing left to do. True: it no longer has a thread, and the
 * caller must not touch it again; false: it has been called back. */
SENNIT_MUST_USE bool sn_worker_threads_retire(struct worker *w);

/* Whether w is one that shall take no new tasks. */
static inline bool sn_worker_threads_is_draining(const struct worker *w)
{
	return sn_worker_counts_is_closed(&w->scheduler->counts, w->index);
}

/* Whether w, which knows that it was closed, no longer is. */
static inline bool sn_worker_threads_is_kept(const struct worker *w)
{
	return sn_run_queue_is_draining(&w->run) &&
	       !sn_worker_threads_is_draining(w);
}

#endif
