/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.h - the work that a worker does every WORKER_UPKEEP dispatches, more
 * often if they take long, however busy it is: inboxes, timers, its CPU slot,
 * the check whether it drains, memory, background tasks, the turn of its oldest
 * task.
 *
 * So none of these starves. A dispatch is the start of a task or the resumption
 * of a fiber. Code that runs a task without the loop counts the dispatch here.
 */
#ifndef SN_UPKEEP_H
#define SN_UPKEEP_H

#include "worker/worker.h"

/* Do what is due, and reset the count. Returns whether it is a task's turn. */
NOINLINE bool sn_upkeep(struct worker *w);

/* Record the number of fibers of w that wait. Called when they may be many. */
void sn_upkeep_note_peak(struct worker *w);

/* Count a dispatch. Returns true if it is a task's turn. */
static ALWAYS_INLINE bool sn_upkeep_is_turn(struct worker *w)
{
	if (likely(!sn_run_queue_tick(&w->run)))
		return false;
	return sn_upkeep(w);
}

/* sn_upkeep_tick() when the upkeep is due. */
bool sn_upkeep_tick_due(struct worker *w);

/* The upkeep is due. Leave it out if nobody would get a turn by it: then only
 * what is not urgent is late, by WORKER_SKIPS upkeeps. Returns whether it was
 * left out. */
bool sn_upkeep_skip(struct worker *w);

/* A fiber is about to run a task itself: count a dispatch, and do the upkeep
 * that is due. Returns false if the loop must run next, on another stack. */
static inline bool sn_upkeep_tick(struct worker *w)
{
	if (unlikely(sn_run_queue_is_due(&w->run)))
		return sn_upkeep_tick_due(w);
	sn_run_queue_tick(&w->run);
	return true;
}

/* The same. If it returns false, the loop's next turn does the upkeep, and
 * counts that dispatch itself. */
static ALWAYS_INLINE bool sn_upkeep_tick_for_loop(struct worker *w)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	sn_run_queue_due_in(&w->run, 1);
	return false;
}

#endif
