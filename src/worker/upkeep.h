/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.h - what a worker sees to every WORKER_UPKEEP dispatches, whatever it
 * has to do: inboxes, timers, its slot, whether it drains, memory, background
 * tasks.
 *
 * So nothing of this starves. A dispatch is the start of a task or the
 * resumption of a fiber; who runs a task without the loop counts it here.
 */
#ifndef SN_UPKEEP_H
#define SN_UPKEEP_H

#include "worker/worker.h"

/* Do what is due, and begin to count anew. */
NOINLINE void sn_upkeep(struct worker *w);

/* Note how many fibers of w wait: called where they are many. */
void sn_upkeep_note_peak(struct worker *w);

/* Count a dispatch. True: it is a task's turn. */
static ALWAYS_INLINE bool sn_upkeep_is_turn(struct worker *w)
{
	if (likely(!sn_run_queue_tick(&w->run)))
		return false;
	sn_upkeep(w);
	return true;
}

/* As sn_upkeep_tick, when it is due. */
bool sn_upkeep_tick_due(struct worker *w);

/* A fiber is about to run a task itself: count that as a dispatch, and do what
 * is due. False: it is the loop's turn, on another stack. */
static inline bool sn_upkeep_tick(struct worker *w)
{
	if (unlikely(sn_run_queue_is_due(&w->run)))
		return sn_upkeep_tick_due(w);
	sn_run_queue_tick(&w->run);
	return true;
}

/* The same; then the loop's turn, which counts that one itself, is next. */
static ALWAYS_INLINE bool sn_upkeep_tick_for_loop(struct worker *w)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	sn_run_queue_due_in(&w->run, 1);
	return false;
}

#endif
