/* SPDX-License-Identifier: Apache-2.0 */
/* worker_threads.h - starts, closes and calls back workers.
 *
 *	inactive --started--> open --closed--> closed --nothing left--> inactive
 *	                    |  ^                |
 *	        idle for    |  +- called back --+
 *	        long        +----> retired (open, no thread) --started--> open
 *
 *	0 ........ open ............ target ............ capacity
 *	take work  threadless: started when needed  unwanted: inactive or closed
 *
 * A closed worker passes its tasks on to open ones, sleeps only where wakes of
 * its fibers reach it, and stays active in the gate until nothing is left that
 * only it can do. Then its thread ends as at the scheduler's end. Its record
 * stays, with one stack, for the next thread.
 *
 * Invariants
 *   - 1 <= open <= target <= capacity; without threadless workers open
 *     equals target.
 *   - `retired` of the open workers have no thread, and no task that
 *     others could not take. At least one open worker has a thread. The
 *     retired workers and those from open to target are threadless.
 *   - No worker from `extent` on has a thread or a task.
 *   - A task sent to a worker that closes meanwhile is seen by the sender
 *     or by the thread that closes it: one stores and one pushes, each
 *     executes a fence, and each looks.
 *   - Only the holder of `counts.lock` changes these numbers and
 *     `thread.present`. So a worker either leaves or is called back.
 *   - A task sent to a worker that retires meanwhile lies where every
 *     searcher looks. Its sender wakes or starts a worker, or, if no
 *     thread can be started, moves the task to a worker that has one.
 *   - A thread that starts a worker is active or holds a reference, so
 *     the gate cannot refuse the worker.
 */
#ifndef SN_WORKER_THREADS_H
#define SN_WORKER_THREADS_H

#include "worker/worker.h"

/* Set the number of workers, 1 to capacity. Returns 0. On -EAGAIN the number is
 * unchanged.
 */
SENNIT_MUST_USE int sn_worker_threads_resize(sennit_scheduler *s,
					     uint32_t          count);

/* parking calls this when no other worker can be woken: start a threadless
 * worker. */
void sn_worker_threads_start_one(struct parking *p);

/* Put a parcel's node into the inbox of the next worker in turn, and wake a
 * worker that may run it. While all workers sleep and no fiber waits on that
 * worker, it has the next turn as well. */
void sn_worker_threads_send(sennit_scheduler *s, struct node *n);

/* Put a parcel's node where only the worker with this index takes it, and wake
 * that worker, or start it. Returns 0, -ENOENT if there is no such worker, or
 * -EAGAIN if it has no thread and none can be started. */
SENNIT_MUST_USE int sn_worker_threads_send_to(sennit_scheduler *s,
					      uint32_t index, struct node *n);

/* The same as sn_worker_threads_send for a chain of `count` nodes, linked from
 * its newest to its oldest. The next `ways` workers in turn get a contiguous
 * run each; 1 <= ways <= count. */
void sn_worker_threads_send_many(sennit_scheduler *s, struct node *newest,
				 struct node *oldest, uint32_t count,
				 uint32_t ways);

/* Leave a chain, linked from its newest node to its oldest, in the inbox of
 * `to` or, if that has closed, of another worker. The caller must then wake a
 * worker. */
void sn_worker_threads_leave_with(struct worker *to, struct node *newest,
				  struct node *oldest);

/* Pass on the tasks in the inbox of w, which is closed. The caller must then
 * wake a worker, or search itself. */
void sn_worker_threads_forward(struct worker *w);

/* Check whether w, the caller's worker, is closed. If so, pass on all its tasks
 * that others may run. Returns whether it is closed. */
bool sn_worker_threads_check(struct worker *w);

/* w, which is closed, had nothing left to do. Returns true if it has no thread
 * any more; the caller must then not access it. False: it was called back, or
 * an errand has come. */
SENNIT_MUST_USE bool sn_worker_threads_retire(struct worker *w);

/* Whether w must take no new tasks. */
static inline bool sn_worker_threads_is_draining(const struct worker *w)
{
	return sn_worker_counts_is_closed(&w->scheduler->counts, w->index);
}

/* Whether w, which knows that it was closed, is open again. */
static inline bool sn_worker_threads_is_kept(const struct worker *w)
{
	return sn_run_queue_is_draining(&w->run) &&
	       !sn_worker_threads_is_draining(w);
}

#endif
