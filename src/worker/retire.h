/* SPDX-License-Identifier: Apache-2.0 */
/* retire.h - workers without a thread: filled, retired, filled again.
 *
 *	working --idle for retire_ms--> retired
 *	   ^                               |
 *	   +---- work, and nobody asleep --+
 *
 * A worker retires from its sleep, out of the gate, with nothing of its own;
 * its thread ends, its record stays open. It is a sleeper without a bit then,
 * as one that was never started (core/parking.h): who adds work and finds
 * nobody else to wake fills it again.
 *
 * Invariants
 *   - What others put into its inbox any searcher may take, so nothing is lost
 *     if its thread does not come back.
 *   - It retires under `counts.lock`, under which it is filled: it has one
 *     thread at most.
 *   - So many threads stay as min_workers says, and at least one.
 *   - Who sleeps was seen to have missed nothing before it retires: it has
 *     looked again after its first nap (worker/idle.c).
 */
#ifndef SN_RETIRE_H
#define SN_RETIRE_H

#include "worker/worker.h"

/* A thread for w, which has none. started: it is counted as a searcher already.
 * 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_fill_locked(struct worker *w, bool started);

/* w, the caller's, is about to lose its thread: it gives back what its next one
 * would not miss. */
void sn_retire_prepare(struct worker *w);

/* w, the caller's, has announced its sleep, left the gate, and slept for long.
 * True: it no longer has a thread, and the caller must not touch it again;
 * false: it has been woken, or is one of the last. */
SENNIT_MUST_USE bool sn_retire_worker(struct worker *w);

/* How many of the first so many workers, which are open, have retired. */
uint32_t sn_retire_count_locked(const sennit_scheduler *s, uint32_t open);

/* A retired worker, of which there are some, gets a thread again, as a counted
 * searcher. 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_restart_locked(sennit_scheduler *s);

/* No thread can be had for those that have retired: what was sent to them is
 * for one that is there, which may be so busy that it never searches. */
void sn_retire_relieve_locked(sennit_scheduler *s);

/* Of the first so many workers, which are to stay open, as many have threads as
 * should: the others may be about to leave. 0 or -EAGAIN. */
SENNIT_MUST_USE int sn_retire_keep_floor_locked(sennit_scheduler *s,
						uint32_t          open);

/* How many of the open workers have a thread; stale but under the lock. */
static inline uint32_t sn_retire_threads(const sennit_scheduler *s)
{
	uint32_t retired =
		a_load_rlx(&s->counts.retired); /* stale: see above */

	return sn_worker_counts_open(&s->counts) - retired;
}

/* When w, which goes to sleep and has been idle since then, is to retire. */
static inline sennit_time sn_retire_time(const struct worker *w,
					 sennit_time          since)
{
	const sennit_scheduler *s = w->scheduler;

	/* One of the last stays; who is started after this look retires in its
	 * stead. */
	if (!s->config.retire_ms || sn_worker_blocked(w) ||
	    sn_retire_threads(s) <= s->config.min_workers)
		return SENNIT_NEVER;
	return since + s->config.retire_ms * SENNIT_MILLISECOND;
}

#endif
