/* SPDX-License-Identifier: Apache-2.0 */
/* steal.h - getting work from the other workers.
 *
 *	public tasks   taken with one compare-and-swap, half of them
 *	task inbox     a share of it (balance.h); of a chain, the oldest
 *	private tasks  asked for; the owner publishes at its next push, within
 *	               some 150 ns; an owner that runs a long task does not
 *	               answer and is forced after FORCE_PATIENCE
 *
 * Fibers are never taken: they resume where they left.
 */
#ifndef SN_STEAL_H
#define SN_STEAL_H

#include "worker/worker.h"

/* A search; all zero to begin with. */
struct heist {
	sennit_time since;   /* when private tasks were first seen; 0: all
				 * others have been seen to have none */
	uint32_t    in_vain; /* victims in a row that had none */
	bool        leaves;  /* fixed: sn_balance_piles_up() when it began */
	bool        on_tour;
	struct steal_tour tour; /* where the next round goes on */
	struct worker    *prey; /* whom it begins with; NULL: nobody */
};

/* One round: over all others, from anywhere on, if those are STEAL_ORDER_TRIES
 * at most, else over so many of them (core/steal_order.h). True: w now has
 * tasks of its own. now: the time, roughly. */
bool sn_steal(struct worker *w, struct heist *h, sennit_time now);

/* Whether any worker but w holds tasks that have not started: looks at all. The
 * next search begins with whom it has found. */
bool sn_steal_sees_tasks(struct worker *w);

/* The same, but for those that w leaves to their worker, which it wakes. */
bool sn_steal_is_possible(struct worker *w);

#endif
