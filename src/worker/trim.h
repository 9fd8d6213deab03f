/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h - memory that a peak has left behind goes back to the system.
 *
 *	        period over, or told            a few at a time
 *	busy ------------- look ----> surplus ------- steps ----> trimmed
 *
 * A worker gives back its idle stacks beyond `spare_stacks` that it has not
 * needed for a whole period, and what its queues have grown by; one of them
 * sees to the depots that they share. Told to by sennit_scheduler_trim, it does
 * not ask what was needed. Nobody does it for another: idle stacks are their
 * worker's alone.
 *
 * It looks in its upkeep, and before it sleeps without being woken for long. A
 * worker with a surplus gives back a few stacks in a row, then works or looks
 * whether it is woken; while it is busy, so few that they take a twentieth of
 * its time.
 *
 * How many it needed it knows from the fibers that waited, which upkeep looks
 * at: nothing is counted for this where tasks and fibers run.
 *
 * Invariants
 *   - A worker sleeps with a time to wake at as long as it may have something
 *     to give back, and not otherwise.
 *   - Who sleeps was not told, or is woken: told, a fence, and a look for
 *     sleepers; announced, a fence, and a look whether one was told.
 */
#ifndef SN_TRIM_H
#define SN_TRIM_H

#include "worker/worker.h"

/* Whether w has something to look at or to give back by now. */
static inline bool sn_trim_is_due(const struct worker *w, sennit_time now)
{
	/* Seen late: at the next upkeep, or before it sleeps. */
	return now >= w->trim.at ||
	       unlikely(a_load_rlx(&w->scheduler->trim.told) != w->trim.seen);
}

/* w, the caller's, is busy: look, or give a few stacks back. */
COLD void sn_trim_attend(struct worker *w, sennit_time now);

/* w, the caller's, has announced its sleep and is about to sleep, until then or
 * a wake: give back what there is, unless woken. Returns when to wake. */
sennit_time sn_trim_asleep(struct worker *w, struct sleeper *as,
			   sennit_time until);

/* w, the caller's, loses its thread: it gives back all idle stacks but `keep`,
 * or but one when many rest with nobody as it is, and what its queues have
 * grown by. */
void sn_trim_leave(struct worker *w, uint32_t keep);

/* Tell all workers of s, and see to what they share. */
void sn_trim_tell(sennit_scheduler *s);

/* Whether w has yet to do what it was told. */
static inline bool sn_trim_is_pending(struct worker *w)
{
	/* <- trim.done */
	return a_load_acq(&w->trim.done) !=
	       a_load_rlx(&w->scheduler->trim.told);
}

#endif
