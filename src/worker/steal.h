/* SPDX-License-Identifier: Apache-2.0 */
/* steal.h - steals work from other workers.
 *
 *	public tasks   half of them, by one compare-and-swap
 *	task inbox     a share of it (balance.h); of a chain, the oldest
 *	private tasks  the thief asks for them; the owner publishes at its next
 *	               push, within about 150 ns; an owner that runs a long
 *	               task does not answer and is forced after FORCE_PATIENCE
 *
 * Fibers are never stolen: they resume on the worker where they waited.
 */
#ifndef SN_STEAL_H
#define SN_STEAL_H

#include "worker/worker.h"

/* The state of a search; all zeros at first. */
struct heist {
	sennit_time since;   /* when private tasks were first seen; 0: no other
			      * worker had any */
	uint32_t    in_vain; /* number of victims in a row without tasks */
	bool        leaves;  /* fixed: sn_balance_piles_up() when the search
			      * began */
	bool        on_tour;
	struct steal_tour tour; /* position of the next round */
	struct worker    *prey; /* the first victim; NULL: none in particular */
};

/* Execute one round of a search: over all other workers, from any position on,
 * if there are at most STEAL_ORDER_TRIES, else over that many of them
 * (core/steal_order.h). Returns true if w now has tasks of its own. `now` is
 * the approximate time. */
bool sn_steal(struct worker *w, struct heist *h, sennit_time now);

/* Whether any worker except w has tasks that have not started. Looks at all
 * workers. The next search begins with the worker that was found. */
bool sn_steal_sees_tasks(struct worker *w);

/* The same, except for tasks that w leaves to their worker, which it wakes. */
bool sn_steal_is_possible(struct worker *w);

#endif
