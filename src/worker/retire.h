/* SPDX-License-Identifier: Apache-2.0 */
/* retire.h - workers without a thread: started, retired, started again.
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
 *     because it looked again after its first nap (worker/idle.c).
 */
#ifndef SN_RETIRE_H
#define SN_RETIRE_H

#include "worker/worker.h"

/* Start a thread for w, which has none. started: w already counts as a
 * searcher. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_fill_locked(struct worker *w, bool started);

/* w, the caller's worker, is about to give up its thread: free what its next
 * thread will not need. */
void sn_retire_prepare(struct worker *w);

/* w, the caller's worker, has announced its sleep, left the gate, and slept for
 * long. Returns true if w has no thread any more; the caller must then not
 * access it. False: w was woken, or is one of the last. */
SENNIT_MUST_USE bool sn_retire_worker(struct worker *w);

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
