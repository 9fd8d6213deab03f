/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - schedulers that share a CPU budget: a worker is active only while
 * it holds one of a limited number of slots.
 *
 *	asleep --woken--> waits for a slot --> active --nothing to do--> asleep
 *	(no slot)             ^                  |
 *	                      +-- safe point <---+
 *
 * Invariants
 *   - A worker without a slot runs no task and does not search.
 *   - A worker that waits for a slot when it was woken, while it searches
 *     or between two dispatches is out of the gate, like a sleeper. It
 *     does not keep its scheduler alive, and the sweeper, which sees its
 *     work, informs it of the end (sn_slots_close). So a scheduler
 *     without work needs no slot to end. Thieves take the tasks of a
 *     worker that waits; the last of them may end the scheduler.
 *   - One that was woken or searches counts as a searcher, so that no
 *     more workers are woken only to wait. If other workers have taken
 *     what it was woken for, it finds nothing, and sleeps.
 *   - A worker that has yielded within a task stays in the gate: the
 *     sweeper sees neither that task nor what it will do.
 *   - A worker without a slot holds no lock, and no worker depends on its
 *     next step. So a worker with a slot never waits for it, except in
 *     code of the program.
 *   - A claim is notified once for each of its waits: that it has a slot,
 *     or that the scheduler has ended. A claim that was given a slot is no
 *     longer queued, so the end does not reach it. It gives the slot back
 *     before its thread ends.
 *   - A scheduler leaves the budget when none of its threads is left
 *     inside.
 *
 * Bound: a claim of a scheduler below its minimum gets a slot at the next safe
 * point of any worker of a scheduler above its minimum. Other claims get one,
 * in turn, at a safe point at least SLOTS_SLICE after the slot last changed
 * (cpus/shares.h). There is a safe point every WORKER_UPKEEP dispatches, and
 * wherever a worker goes to sleep.
 *
 * Checked by core/test/model/slots.pml.
 */
#ifndef SN_SLOTS_H
#define SN_SLOTS_H

#include "sched/state.h"

#include <pthread.h>

/* The minimum time for which a worker keeps its slot. */
#define SLOTS_SLICE (TORTURED(20, 1000) * SENNIT_MICROSECOND)

struct sennit_resources {
	sennit_allocator memory;     /* fixed */
	uint32_t         process;    /* fixed: the process, see life/fork.h */
	a_u32            references; /* any */
	pthread_mutex_t  lock;       /* rank: above all others */
	struct shares    shares;     /* under lock */
};

/* Join the budget of s->config.resources, if there is one. Returns 0. -EAGAIN:
 * the minimums would exceed the budget. */
SENNIT_MUST_USE int sn_slots_join(sennit_scheduler *s);

/* The number of s's workers that have a slot, and that wait for one. Unchanged
 * if s takes part in no budget. */
void sn_slots_count(sennit_scheduler *s, uint64_t *active, uint64_t *waiting);

/* The number of slots. May be stale: a sharer that joins checks again. */
static inline uint32_t sn_slots_number(const sennit_resources *r)
{
	return a_load_rlx(&r->shares.slots);
}

/* Leave the budget. None of s's threads may be left. */
void sn_slots_leave(sennit_scheduler *s);

/* Drop a reference. */
void sn_slots_release(sennit_resources *r);

/* For the calling thread's worker w: take a slot, or keep the one it has; waits
 * for one. Returns false if the scheduler has ended. */
SENNIT_MUST_USE bool sn_slots_take(struct worker *w);

/* The same, then enter the gate. Returns false if the scheduler has ended; w
 * then has no slot. */
SENNIT_MUST_USE bool sn_slots_enter(struct worker *w);

/* As sn_slots_take. The scheduler cannot end, because w is in its gate. */
void sn_slots_take_inside(struct worker *w);

/* Give back w's slot, if it has one. */
void sn_slots_give(struct worker *w);

/* w is at a safe point within a task: give its slot to a claim that should have
 * it, if any, and wait until w has one again. */
COLD void sn_slots_yield(struct worker *w);

/* The same for a worker between two dispatches, or that searches. It waits out
 * of the gate. Returns false if the scheduler has ended meanwhile: nothing was
 * left for w, which then has no slot and is out of the gate. */
SENNIT_MUST_USE COLD bool sn_slots_yield_between(struct worker *w);

/* The end is reached: end all waits for a slot. */
void sn_slots_close(sennit_scheduler *s);

/* Change the number of slots, or what s may have of them. Takes effect at the
 * next safe points. Returns false if the minimums would exceed the budget; then
 * nothing has changed. s takes part in a budget, and does not end meanwhile. */
SENNIT_MUST_USE bool sn_slots_resize(sennit_resources *r, uint32_t slots);
SENNIT_MUST_USE bool sn_slots_change(sennit_scheduler *s, uint32_t min,
				     uint32_t max, uint32_t priority);

/* Whether a claim waits for a slot while w may have one, or slots are in
 * excess. A stale value is corrected at the next look. */
static inline bool sn_slots_is_wanted(const struct worker *w)
{
	return w->slot.sharer &&
	       a_load_rlx(&w->scheduler->slots.resources->shares.wanted);
}

#endif
