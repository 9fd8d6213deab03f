/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - schedulers that share a budget of CPUs: a worker is active only
 * while it holds one of so many slots.
 *
 *	asleep --woken--> waits for a slot --> active --nothing to do--> asleep
 *	(no slot)             ^                  |
 *	                      +-- safe point <---+
 *
 * Invariants
 *   - Without a slot a worker runs no task and does not search.
 *   - A worker that was woken and waits for a slot is out of the gate, as one
 *     that sleeps: it does not keep its scheduler alive, and the sweeper, who
 *     sees its work, tells it of the end (sn_slots_close). It counts as a
 *     searcher, so that no more are woken to wait.
 *   - One that has yielded at a safe point stays in the gate: it has a stack
 *     that is in use, or tasks. Thieves take those.
 *   - Who has no slot holds no lock and owes nobody a step; so who has one
 *     never waits for it, except in the program's own code.
 *   - A claim is told once for each time that it waits: that it has a slot, or
 *     of the end. Who was given one is no longer in the queue, so the end does
 *     not reach it, and it gives the slot back before its thread ends.
 *   - A scheduler lets go of the budget when none of its threads is left
 *     inside.
 *
 * Bound: whoever waits below its scheduler's minimum gets a slot at the next
 * safe point of any worker of a scheduler above its own; others at one that
 * comes SLOTS_SLICE after the slot's last change, in turn (core/shares.h).
 * A safe point comes every WORKER_UPKEEP dispatches, and wherever a worker goes
 * to sleep.
 *
 * Checked by test/model/slots.pml.
 */
#ifndef SN_SLOTS_H
#define SN_SLOTS_H

#include "core/shares.h"
#include "worker/worker.h"

#include <pthread.h>

/* A slot that is wanted is asked for so long after it was given. */
#define SLOTS_SLICE (TORTURED(20, 1000) * SENNIT_MICROSECOND)

struct sennit_resources {
	sennit_allocator memory; /* fixed */
	uint32_t process;       /* fixed: whose it is, see worker/fork_exit.h */
	a_u32    references;    /* any */
	pthread_mutex_t lock;   /* rank: above all others */
	struct shares   shares; /* under lock */
};

/* Take part in the budget of s->config.resources, if there is one. 0, or
 * -EAGAIN: the minimums would exceed it. */
SENNIT_MUST_USE int sn_slots_join(sennit_scheduler *s);

/* Whether s takes part in one. */
static inline bool sn_slots_is_limited(const sennit_scheduler *s)
{
	return s->slots.resources;
}

/* How many of s's workers have a slot, and wait for one; unchanged if s takes
 * part in no budget. */
void sn_slots_count(sennit_scheduler *s, uint64_t *active, uint64_t *waiting);

/* None of s's threads is left. */
void sn_slots_leave(sennit_scheduler *s);

/* One reference less. */
void sn_slots_release(sennit_resources *r);

/* w is the calling thread's: have a slot, from now on or still; wait for one.
 * False: the scheduler has ended. */
SENNIT_MUST_USE bool sn_slots_take(struct worker *w);

/* The same, and enter the gate. False: the scheduler has ended, and w has no
 * slot. */
SENNIT_MUST_USE bool sn_slots_enter(struct worker *w);

/* As sn_slots_take, where the scheduler cannot end, as w is in its gate. */
void sn_slots_take_inside(struct worker *w);

/* Give w's slot, if it has one. */
void sn_slots_give(struct worker *w);

/* w is at a safe point: let another have its slot that should, and wait until
 * it has one again. */
COLD void sn_slots_yield(struct worker *w);

/* The end is reached: nobody waits for a slot any more. */
void sn_slots_close(sennit_scheduler *s);

/* Whether somebody waits for a slot, and w has one. Stale: seen at the next
 * look. */
static inline bool sn_slots_is_wanted(const struct worker *w)
{
	return w->slot.sharer &&
	       a_load_rlx(&w->scheduler->slots.resources->shares.waiting);
}

#endif
