/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - decides what a worker does next: resume a fiber, start a task, or
 * idle; and the regular upkeep in between. */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "sched/state.h"

/* Suspend the running fiber until it is made ready; others run meanwhile. errno
 * keeps its value. */
void sn_loop_suspend(struct worker *w);

/* Let other fibers, and sometimes a task, run first. */
void sn_loop_yield(struct worker *w);

/* Run w's tasks and fibers until nothing is left, from the thread's own
 * stack. */
void sn_loop_run_dry(struct worker *w);

/* The main function of a worker's thread between entering and leaving: it stays
 * on the thread's own stack until there is work, then switches to stacks of the
 * pool. */
void sn_loop_run(struct worker *w);

/* --- upkeep --------------------------------------------------------------- */

/* The work that a worker does every WORKER_UPKEEP dispatches, more often if
 * they take long, however busy it is: inboxes, timers, its CPU slot, the check
 * whether it drains, memory, background tasks, the turn of its oldest task.
 *
 * So none of these starves. A dispatch is the start of a task or the resumption
 * of a fiber. Code that runs a task without the loop counts the dispatch here.
 */

/* Do what is due, and reset the count. Only between two dispatches: the slot is
 * then given out of the gate. Returns whether it is a task's turn. */
NOINLINE bool sn_upkeep(struct worker *w);

/* Record the number of fibers of w that wait. Called when they may be many. */
void sn_upkeep_note_peak(struct worker *w);

/* Count a dispatch. Returns true if it is a task's turn. */
static ALWAYS_INLINE bool sn_upkeep_is_turn(struct worker *w)
{
	if (likely(--w->run.dispatches))
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
	if (unlikely(w->run.dispatches == 1))
		return sn_upkeep_tick_due(w);
	--w->run.dispatches;
	return true;
}

/* The same. If it returns false, the loop's next turn does the upkeep, and
 * counts that dispatch itself. */
static ALWAYS_INLINE bool sn_upkeep_tick_for_loop(struct worker *w)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	w->run.dispatches = 1;
	return false;
}

#endif
