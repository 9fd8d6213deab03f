/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - what a worker does without work: it spins, then parks.
 *
 *	search --found--> work
 *	   |  ^
 *	   v  | woken, or work appeared at the last look
 *	announce, look again, leave the gate, sleep, enter the gate
 *
 * With a CPU budget (slots.h) a worker gives its slot back after it has left
 * the gate, and takes one before it enters the gate again. If a slot is wanted
 * while it searches, or while work keeps it from sleeping, it does so without a
 * sleep: the work that it sees may be of a worker that waits for that slot.
 *
 * The first sleep of an idle worker lasts at most FIRST_IDLE_NAP, because a
 * worker's push onto its own deque has no fence, so the last look may have
 * missed it. The process barrier after that sleep makes such pushes visible.
 * Later sleeps end only by a wake or a deadline.
 */
#ifndef SN_IDLE_H
#define SN_IDLE_H

#include "sched/state.h"

/* Wait until w has a fiber to resume or a task to start. May return spuriously.
 * Returns false if the worker's thread must leave: the scheduler has ended, or
 * w is draining and has nothing left to do. */
SENNIT_MUST_USE bool sn_idle(struct worker *w);

/* Wait until w has a fiber to resume, or a task to start if it has none now, or
 * until the time `until`. For bound threads and closed workers, which wait for
 * their own fibers alone, and for workers that have tasks but no stack for
 * them. */
void sn_idle_for_fiber(struct worker *w, sennit_time until);

static inline void sn_idle_init(struct idle_state *i, uint32_t spin_ns)
{
	i->spin_ns = spin_ns;
	a_init(&i->time, 0);
}

/* An idle time begins, or goes on if the worker gave up its thread in it. */
static inline void sn_idle_begin(struct idle_state *i, sennit_time now)
{
	uint64_t time = a_load_rlx(&i->time); /* not raced: only the owner
					       * writes */

	if (!(time & IDLE_NOW))
		a_store_rlx(&i->time, IDLE_NOW | (now - time));
}

static inline void sn_idle_end(struct idle_state *i, sennit_time now)
{
	a_store_rlx(&i->time, now - (a_load_rlx(&i->time) & ~IDLE_NOW));
}

/* Any thread: whether the worker searches or sleeps. May be stale. */
static inline bool sn_idle_is_idle(const struct idle_state *i)
{
	return a_load_rlx(&i->time) & IDLE_NOW;
}

/* Any thread: the sum of all idle times up to `now`. One word holds all that it
 * takes, so the sum never goes back by more than clocks differ. */
static inline uint64_t sn_idle_time(const struct idle_state *i, sennit_time now)
{
	uint64_t time = a_load_rlx(&i->time);

	return time & IDLE_NOW ? now - (time & ~IDLE_NOW) : time;
}

/* The worker of i has been woken. */
static inline void sn_woken_set(struct woken *x, const struct idle_state *i)
{
	x->time = a_load_rlx(&i->time);
	x->idle = x->time & IDLE_NOW ? i : NULL;
}

/* Whether it is still on its way. */
static inline bool sn_woken_is_coming(struct woken *x)
{
	if (x->idle && a_load_rlx(&x->idle->time) != x->time)
		x->idle = NULL;
	return x->idle;
}

#endif
