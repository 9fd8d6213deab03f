/* SPDX-License-Identifier: Apache-2.0 */
/* steal.h - steals work from other workers, and deals tasks to idle ones.
 *
 *	public tasks   half of them, by one compare-and-swap
 *	task inbox     a share of it; of a chain, the oldest
 *	private tasks  the thief asks for them; the owner publishes at its next
 *	               push, within about 150 ns; an owner that runs a long
 *	               task does not answer and is forced after FORCE_PATIENCE
 *
 * Fibers are never stolen: they resume on the worker where they waited.
 */
#ifndef SN_STEAL_H
#define SN_STEAL_H

#include "sched/state.h"

/* `seed` must not be 0, and must differ between workers. `own` is the worker's
 * index. */
static inline void sn_steal_init(struct steal_state *s, uint32_t seed,
				 uint32_t own)
{
	s->random = seed;
	s->last_victim = own;
}

/* Compute its neighbours from the order of places, before its thread runs. */
static inline void sn_steal_set_neighbours(struct steal_state         *s,
					   const struct topology_slot *places,
					   uint32_t n, uint32_t at)
{
	sn_steal_order_rings(&s->rings, places, n, at);
}

/* The state of a search; all zeros at first. */
struct steal_search {
	sennit_time since;   /* when private tasks were first seen; 0: no other
			      * worker had any */
	uint32_t    in_vain; /* number of victims in a row without tasks */
	bool        leaves;  /* fixed: sn_balance_piles_up() when the search
			      * began */
	bool        on_tour;
	struct steal_tour tour; /* position of the next round */
	struct worker *victim;  /* the first victim; NULL: none in particular */
};

/* Execute one round of a search: over all other workers, from any position on,
 * if there are at most STEAL_ORDER_TRIES, else over that many of them
 * (park/topology.h). Returns true if w now has tasks of its own. `now` is
 * the approximate time. */
bool sn_steal(struct worker *w, struct steal_search *h, sennit_time now);

/* Whether any worker except w has tasks that have not started. Looks at all
 * workers. The next search begins with the worker that was found. */
bool sn_steal_sees_tasks(struct worker *w);

/* The same, except for tasks that w leaves to their worker, which it wakes. */
bool sn_steal_is_possible(struct worker *w);

/* --- balance -------------------------------------------------------------- */

/* Distributes tasks that have not started, so that tasks which will wait do not
 * all become fibers of one worker.
 *
 * A fiber stays on the worker where it began. A worker starts a task that waits
 * within a fraction of a microsecond, but a worker that is woken to help
 * arrives about 50 us later. Without the rules below, the first worker would
 * have turned a whole burst into its own fibers by then. The rules:
 *
 *   - A searcher takes a share of another worker's inbox, such that all
 *     workers that search or sleep could get an equal share.
 *   - A worker piles up when, of its tasks, SHARE_PILE more begin to wait
 *     than end. It then leaves the inbox of an idle worker to that
 *     worker, which it wakes, and leaves the tasks of a busy worker to it
 *     for a while.
 *   - A worker that piles up deals tasks that it has not started to idle
 *     workers, and does so again whenever SHARE_PILE more waits begin.
 *
 * Where tasks end without waiting, as in fork-join, no worker piles up and none
 * of this happens.
 */

/* The pile is the number of waits that have begun minus those that have ended,
 * times SHARE_WAIT, minus the tasks that have ended. So a worker of whose tasks
 * one in SHARE_WAIT waits piles up, wherever the others end. */
#define SHARE_WAIT 16u

/* The pile from which on a worker piles up: three waits. Two would also be
 * those of fibers that come and go: with 64 workers a wake moved half as many
 * cache lines again (core/test/cachelines). A descending fork-join reaches this
 * depth sometimes; dealing then costs little, because few tasks have begun. */
#define SHARE_PILE (2 * SHARE_WAIT + SHARE_WAIT / 2)

/* The upper limit of the pile. So this many tasks that end make a worker forget
 * a burst of any length. */
#define SHARE_PILE_MAX (8 * SHARE_WAIT)

/* Update the count. Returns whether w, the caller's worker, piles up.
 *
 * A worker that leaves an inbox to its owner relies on mail.idle, which may be
 * stale. If it says idle, but the owner has found other work: the owner stored
 * that before it left the count of searchers. The last searcher that leaves
 * that count, or that announces its sleep afterwards, sees the store and does
 * not leave the inbox. If it says busy: the inbox is taken after a while, as
 * during a long task. */
bool sn_balance_piles_up(struct worker *w);

/* The number of parts into which the inbox of the victim is divided: one for
 * the calling searcher, one for each other worker that searches or sleeps, and
 * one for the victim. */
uint32_t sn_balance_parts(const struct worker *victim);

/* Call this when a task of w, the caller's worker, has begun to wait, w is
 * about to start another, and some worker is idle. If w piles up, it deals
 * tasks that have not started. */
COLD void sn_balance_deal(struct worker *w);

/* --- topology ------------------------------------------------------------- */

/* Which workers are neighbours.
 *
 * A worker has a place if it is bound to CPUs that share a core, a cache or a
 * node. The places matter only when there are more workers than a thief visits
 * in one round.
 */

/* The CPUs that the configuration assigns to worker i. Returns false if it
 * assigns none; *out is then unchanged. */
bool sn_topology_own_cpus(const sennit_scheduler *s, uint32_t i,
			  sennit_cpu_mask *out);

/* Compute the places and rings of all workers, before any thread runs. Returns
 * 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_topology_init(sennit_scheduler *s);

#endif
