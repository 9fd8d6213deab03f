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

#include "os/os.h"
#include "sched/worker.h"

static inline void sn_worker_counts_init(struct worker_counts *t,
					 uint32_t target, uint32_t open,
					 void *(*main)(void *worker))
{
	a_init(&t->target, target);
	a_init(&t->open, open);
	a_init(&t->extent, open);
	a_init(&t->retired, 0);
	t->start_after = 0;
	t->main = main;
	pthread_mutex_init(&t->lock, NULL);
}

/* The number of workers wanted. Any answer may be stale. */
static inline uint32_t sn_worker_counts_target(const struct worker_counts *t)
{
	return a_load_rlx(&t->target);
}

/* The number of workers that take new work. Stale unless the lock is held. */
static inline uint32_t sn_worker_counts_open(const struct worker_counts *t)
{
	return a_load_rlx(&t->open);
}

/* Only workers below this may have a thread or tasks. Stale unless the lock is
 * held: a thread that adds a worker also wakes for it. */
static inline uint32_t sn_worker_counts_extent(const struct worker_counts *t)
{
	return a_load_rlx(&t->extent);
}

/* Whether the worker with this index takes no new work. */
static inline bool sn_worker_counts_is_closed(const struct worker_counts *t,
					      uint32_t                    index)
{
	return index >= a_load_acq(&t->open); /* <- worker_threads.open */
}

/* Under lock. */
static inline void sn_worker_counts_set_open(struct worker_counts *t,
					     uint32_t              open)
{
	TORTURE_POINT();
	a_store_rel(&t->open, open); /* -> worker_threads.open: extent */
}

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

/* Check whether w, the caller's worker, is closed. If so, move all its tasks
 * that others may run to them. Returns whether it is closed. */
bool sn_worker_threads_check(struct worker *w);

/* w, which is closed, had nothing left to do. Returns true if it has no thread
 * any more; the caller must then not access it. False: it was called back, or
 * a pinned task has come. */
SENNIT_MUST_USE bool sn_worker_threads_close_worker(struct worker *w);

/* Whether w must take no new tasks. */
static inline bool sn_worker_threads_is_draining(const struct worker *w)
{
	return sn_worker_counts_is_closed(&w->scheduler->counts, w->index);
}

/* Whether w, which knows that it was closed, is open again. */
static inline bool sn_worker_threads_is_kept(const struct worker *w)
{
	return w->run.draining && !sn_worker_threads_is_draining(w);
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
 * bit, like one that was never started (park/parking.h). A thread that adds
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

/* w, the caller's worker, has announced its sleep, left the gate, and slept for
 * long. Returns true if w has no thread any more; the caller must then not
 * access it. False: w was woken, or is one of the last. */
SENNIT_MUST_USE bool sn_worker_threads_retire_worker(struct worker *w);

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
	if (!s->config.retire_ms || sn_counters_blocked(&w->counters) ||
	    sn_retire_threads(s) <= s->config.min_workers)
		return SENNIT_NEVER;
	return since + s->config.retire_ms * SENNIT_MILLISECOND;
}

/* --- thread --------------------------------------------------------------- */

/* Stale unless counts.lock is held. */
static inline bool sn_thread_is_present(const struct thread_state *t)
{
	return a_load_rlx(&t->present); /* not raced under the lock */
}

/* Under counts.lock. */
static inline void sn_thread_set_present(struct thread_state *t, bool present)
{
	a_store_rlx(&t->present, present); /* the lock or the gate makes it
					    * visible */
}

/* Start the thread with run(argument). Its stack has `stack` bytes, and as many
 * more as a signal stack at its far end takes. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE static inline int sn_thread_start(struct thread_state *t,
						  void *(*run)(void *),
						  void *argument, size_t stack)
{
	return os_thread_start(&t->id, run, argument,
			       stack + os_fault_stack_size());
}

static inline void sn_thread_join(const struct thread_state *t)
{
	os_thread_join(t->id);
}

/* A new thread reports to *startup, if that is not NULL, before it works.
 * founding: its scheduler is being created. */
static inline void sn_thread_prepare(struct thread_state *t,
				     struct startup *startup, bool founding)
{
	t->startup = startup;
	t->founding = founding;
}

/* The calling thread is the worker's. Only reports use the number, so relaxed
 * is enough. */
static inline void sn_thread_begin(struct thread_state *t)
{
	a_store_rlx(&t->number, os_thread_id());
}

/* Stale: the previous thread's id, or 0 before the first thread. */
static inline uint32_t sn_thread_number(const struct thread_state *t)
{
	return a_load_rlx(&t->number);
}

#endif
