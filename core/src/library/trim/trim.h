/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h - returns memory that a peak left unused to the system.
 *
 *	        period over, or told            a few at a time
 *	busy ------------- look ----> surplus ------- steps ----> trimmed
 *
 * A worker returns its idle stacks beyond `spare_stacks` that it has not needed
 * for a whole period, and memory that longer queues needed. One of the workers
 * checks the depots that they share. On request, by sennit_scheduler_trim, a
 * worker does not consider what was needed. No worker does this for another,
 * because idle stacks belong to their worker alone.
 *
 * A worker looks in its upkeep, and before a sleep that may be long. A worker
 * with a surplus returns a few stacks in a row, then works, or checks whether
 * it was woken. While it is busy it returns so few that this takes a twentieth
 * of its time.
 *
 * The number of needed stacks follows from the number of waiting fibers, which
 * upkeep reads. So nothing is counted for this where tasks and fibers run.
 *
 * Invariants
 *   - A worker sleeps with a deadline as long as it may have something to
 *     return, and without one otherwise.
 *   - A sleeper was not told, or is woken: the teller stores, executes a
 *     fence, and looks for sleepers; a worker announces, executes a fence,
 *     and checks whether it was told.
 */
#ifndef SN_TRIM_H
#define SN_TRIM_H

#include "sched/run_queue.h"
#include "sched/worker.h"

/* A new worker ignores earlier requests. */
static inline void sn_trim_init(struct trim_state        *t,
				const struct trim_shared *shared)
{
	t->seen = a_load_rlx(&shared->told); /* the requests so far */
	a_init(&t->done, t->seen);
}

/* Record the number of the owner's fibers that wait now. */
static inline void sn_trim_note_blocked(struct trim_state *t, uint64_t blocked)
{
	if (blocked > t->busiest)
		t->busiest = blocked;
}

/* Whether w has something to look at or to return now. */
static inline bool sn_trim_is_due(const struct worker *w, sennit_time now)
{
	/* May be seen late: at the next upkeep, or before w sleeps. */
	return now >= w->trim.at ||
	       unlikely(a_load_rlx(&w->scheduler->trim.told) != w->trim.seen);
}

/* w, the caller's worker, is busy: look, or return a few stacks. */
COLD void sn_trim_attend(struct worker *w, sennit_time now);

/* w, the caller's worker, has announced its sleep and is about to sleep until
 * `until` or a wake: return what there is, unless woken. Returns the time to
 * wake. */
sennit_time sn_trim_asleep(struct worker *w, struct sleeper *as,
			   sennit_time until);

/* w, the caller's worker, gives up its thread. It gives back all idle stacks
 * except `keep`, or except one if many are already in the depot, and memory
 * that longer queues needed. */
void sn_trim_leave(struct worker *w, uint32_t keep);

/* Tell all workers of s to trim, and trim what they share. */
void sn_trim_tell(sennit_scheduler *s);

/* Whether w has not finished the trims that were requested. */
static inline bool sn_trim_is_pending(struct worker *w)
{
	/* <- trim.done */
	return a_load_acq(&w->trim.done) !=
	       a_load_rlx(&w->scheduler->trim.told);
}

#endif
