/* SPDX-License-Identifier: Apache-2.0 */
/* background.h - who runs background tasks, and when.
 *
 *	with workers     the scheduler's backlog; a worker that has found no
 *	                 other task, own or to steal, takes the oldest
 *	without          each bound thread's own backlog; when it waits or
 *	                 unbinds and has no other task
 *	nobody idle      whoever first attends to its upkeep when one is due
 *
 * A task that is taken becomes its worker's as if that had just scheduled it:
 * it runs next, or a thief takes it. From then on it is a task like any other.
 */
#ifndef SN_BACKGROUND_H
#define SN_BACKGROUND_H

#include "worker/worker.h"

/* Add t to the backlog of s, which has workers, and wake one of them. The
 * caller is active or holds a reference. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_background_send(sennit_scheduler *s, struct task t);

/* The same for all that fill(filler, ring) adds. */
SENNIT_MUST_USE int sn_background_send_many(sennit_scheduler *s,
					    backlog_filler *fill, void *filler);

/* Make the oldest background task that w may run one of its own. */
bool sn_background_take(struct worker *w, sennit_time now);

COLD void sn_background_catch_up(struct worker *w, sennit_time now);

/* Now and then: whatever else w has to do, one may be due. */
static inline void sn_background_attend(struct worker *w, sennit_time now)
{
	if (sn_backlog_is_due(w->backlog, now) &&
	    !sn_run_queue_is_draining(&w->run))
		sn_background_catch_up(w, now);
}

#endif
