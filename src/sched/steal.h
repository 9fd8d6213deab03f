/* SPDX-License-Identifier: Apache-2.0 */
/* steal.h - getting work from the other workers.
 *
 *	public tasks   taken with one compare-and-swap, half of them
 *	task inbox     taken whole
 *	private tasks  asked for; the owner publishes at its next push, within
 *	               some 150 ns; an owner that runs a long task does not
 *	               answer and is forced after FORCE_PATIENCE
 *
 * Fibers are never taken: they resume where they left.
 */
#ifndef SN_STEAL_H
#define SN_STEAL_H

#include "sched/worker.h"

/* What a thief has seen of private tasks since when. */
struct heist {
	sennit_time since; /* 0: none seen in the last round */
};

/* One round over all other workers, in a random order. True: w now has tasks
 * of its own. now: the time, roughly. */
bool sn_steal(struct worker *w, struct heist *h, sennit_time now);

/* Whether any worker but w holds tasks that w may run. */
bool sn_steal_is_possible(const struct worker *w);

#endif
