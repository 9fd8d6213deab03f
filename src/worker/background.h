/* SPDX-License-Identifier: Apache-2.0 */
/* background.h - who runs background tasks, and when.
 *
 *	with workers     the scheduler's backlog; a worker that finds no other
 *	                 task, own or to steal, takes the oldest
 *	without workers  each bound thread's own backlog, when the thread waits
 *	                 or unbinds and has no other task
 *	nobody idle      the first worker whose upkeep finds a task that is due
 *
 * A task that is taken belongs to its worker as if the worker had just
 * scheduled it: it runs next, or a thief takes it. From then on it is an
 * ordinary task.
 */
#ifndef SN_BACKGROUND_H
#define SN_BACKGROUND_H

#include "worker/worker.h"

/* Add t to the backlog of s, which must have workers, and wake one of them. The
 * caller must be active or hold a reference. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_background_send(sennit_scheduler *s, struct task t);

/* The same for all tasks that fill(filler, ring) adds. */
SENNIT_MUST_USE int sn_background_send_many(sennit_scheduler *s,
					    backlog_filler *fill, void *filler);

/* Take the oldest background task that w may run, as a task of its own. Returns
 * false if there is none. */
bool sn_background_take(struct worker *w, sennit_time now);

COLD void sn_background_catch_up(struct worker *w, sennit_time now);

/* Part of the upkeep: takes a background task that is due, whatever else w has
 * to do. */
static inline void sn_background_attend(struct worker *w, sennit_time now)
{
	if (sn_backlog_is_due(w->backlog, now) &&
	    !sn_run_queue_is_draining(&w->run))
		sn_background_catch_up(w, now);
}

#endif
