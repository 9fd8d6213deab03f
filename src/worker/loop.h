/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - what a worker does next: resume, start, or idle. */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "worker/worker.h"

/* Set the running fiber aside until it is made ready; others run meanwhile.
 * errno keeps its value. */
void sn_loop_suspend(struct worker *w);

/* Let other fibers, and now and then a task, run first. */
void sn_loop_yield(struct worker *w);

/* A fiber is about to run a task itself: count that as a dispatch, and do what
 * is due. False: it is the loop's turn, on another stack. */
bool sn_loop_tick_due(struct worker *w);

static inline bool sn_loop_tick(struct worker *w)
{
	if (unlikely(sn_run_queue_is_due(&w->run)))
		return sn_loop_tick_due(w);
	sn_run_queue_tick(&w->run);
	return true;
}

/* Whether the loop would take w's newest own task next: no fiber, pinned task
 * or older one goes before it. Stale as to fibers on their way. */
static inline bool sn_loop_wants_newest(const struct worker *w)
{
	return sn_run_queue_wants_newest(&w->run) &&
	       !sn_mailbox_has_fibers(&w->mail);
}

/* Run w's tasks and fibers until nothing is left, from the thread's own
 * stack. */
void sn_loop_run_dry(struct worker *w);

/* The life of a worker's thread between entering and leaving: on the thread's
 * own stack until there is work, then on the pool's. */
void sn_loop_run(struct worker *w);

#endif
