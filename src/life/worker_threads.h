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

#include "sched/state.h"

/* Set the number of workers, 1 to capacity. Returns 0. On -EAGAIN the number is
 * unchanged.
 */
SENNIT_MUST_USE int sn_worker_threads_resize(sennit_scheduler *s,
					     uint32_t          count);

/* parking calls this when no other worker can be woken: start a threadless
 * worker. */
void sn_worker_threads_start_one(struct parking *p);

/* Put the node of a queued task where only the worker with this index takes it,
 * and wake that worker, or start it. Returns 0, -ENOENT if there is no such
 * worker, or -EAGAIN if it has no thread and none can be started. */
SENNIT_MUST_USE int sn_worker_threads_send_to(sennit_scheduler *s,
					      uint32_t index, struct node *n);

/* Check whether w, the caller's worker, is closed. If so, pass on all its tasks
 * that others may run. Returns whether it is closed. */
bool sn_worker_threads_check(struct worker *w);

/* w, which is closed, had nothing left to do. Returns true if it has no thread
 * any more; the caller must then not access it. False: it was called back, or
 * an errand has come. */
SENNIT_MUST_USE bool sn_worker_threads_close_worker(struct worker *w);

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

/* --- retire --------------------------------------------------------------- */

/* Workers without a thread: started, retired, started again.
 *
 *	working --idle for retire_ms--> retired
 *	   ^                               |
 *	   +---- work, and nobody asleep --+
 *
 * A worker retires from its sleep, out of the gate, without work of its own.
 * Its thread ends, but its record stays open. It is then a sleeper without a
 * bit, like one that was never started (core/parking.h). A thread that adds
 * work and finds no other worker to wake starts it again.
 *
 * Invariants
 *   - Any searcher may take the tasks in its inbox, so nothing is lost if
 *     its thread does not come back.
 *   - It retires and starts under `counts.lock`, so it has at most one
 *     thread.
 *   - At least min_workers threads stay, and at least one.
 *   - A sleeper was seen to have missed nothing before it retires,
 *     because it looked again after its first nap (sched/idle.c).
 */

/* Start a thread for w, which has none. started: w already counts as a
 * searcher. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_worker_threads_start_locked(struct worker *w,
						   bool           started);

/* w, the caller's worker, is about to give up its thread: free what its next
 * thread will not need. */
void sn_retire_prepare(struct worker *w);

/* w, the caller's worker, has announced its sleep, left the gate, and slept for
 * long. Returns true if w has no thread any more; the caller must then not
 * access it. False: w was woken, or is one of the last. */
SENNIT_MUST_USE bool sn_worker_threads_retire_worker(struct worker *w);

/* How many of the first `open` workers have retired. */
uint32_t sn_retire_count_locked(const sennit_scheduler *s, uint32_t open);

/* Start a thread for a retired worker, as a counted searcher. There must be a
 * retired worker. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_restart_locked(sennit_scheduler *s);

/* The same for w, which has retired. */
SENNIT_MUST_USE int sn_retire_restart_this_locked(struct worker *w);

/* No thread can be started for the retired workers: move the tasks in their
 * inboxes to a worker that has a thread. Otherwise the remaining workers might
 * be too busy to search. */
void sn_retire_relieve_locked(sennit_scheduler *s);

/* Make sure that enough of the first `open` workers, which stay open, have
 * threads, because the others may be about to leave. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_keep_floor_locked(sennit_scheduler *s,
						uint32_t          open);

/* The number of open workers that have a thread. Stale unless the lock is
 * held. */
static inline uint32_t sn_retire_threads(const sennit_scheduler *s)
{
	uint32_t retired =
		a_load_rlx(&s->counts.retired); /* stale: see above */

	return sn_worker_counts_open(&s->counts) - retired;
}

/* The time at which w must retire, if it goes to sleep now and has been idle
 * since `since`. */
static inline sennit_time sn_retire_time(const struct worker *w,
					 sennit_time          since)
{
	const sennit_scheduler *s = w->scheduler;

	/* One of the last workers stays. If another is started after this look,
	 * that one retires instead. */
	if (!s->config.retire_ms || sn_worker_blocked(w) ||
	    sn_retire_threads(s) <= s->config.min_workers)
		return SENNIT_NEVER;
	return since + s->config.retire_ms * SENNIT_MILLISECOND;
}

#endif
