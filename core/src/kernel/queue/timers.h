/* SPDX-License-Identifier: Apache-2.0 */
/* timers.h - a hierarchical timing wheel for one owner: finds the deadlines
 * that have passed. (Varghese and Lauck.)
 *
 *	level 0   [ ][ ][t][ ] ... [ ]	256 slots of one tick (16 us)
 *	level 1   [ ][t][ ][ ] ... [ ]	256 slots of 256 ticks (4 ms)
 *	...
 *	level 6				256 slots of 256^6 ticks
 *
 * A tick number consists of seven digits of eight bits. A timer that is fewer
 * than 256^(l+1) ticks away lies on level l, in the slot that digit l of its
 * tick selects. When time reaches a slot above level 0, its timers move down.
 * Seven levels cover every sennit_time, so no deadline is too far away.
 *
 * Invariants
 *   - A slot in use begins at `tick` or later, and is among the next 256
 *     slots of its level. So its index in the level tells when it begins.
 *   - Bit s % 64 of used[s / 64] is set exactly when slot s has timers.
 *   - Only the owner touches these structures: plain memory.
 *
 * The memory of a timer must stay valid until the timer is cancelled or expire
 * has returned it.
 */
#ifndef SN_TIMERS_H
#define SN_TIMERS_H

#include "base/compiler.h"
#include "sennit/base.h"

#include <stdbool.h>

enum {
	TIMERS_TICK_BITS = 14, /* 16.4 us */
	TIMERS_DIGIT_BITS = 8,
	TIMERS_SLOTS = 1 << TIMERS_DIGIT_BITS, /* of a level */
	TIMERS_LEVELS = 7,
	TIMERS_ALL = TIMERS_LEVELS * TIMERS_SLOTS,
	TIMERS_WAIT = 5 /* ticks; see sn_timers_next_batch */
};

/* All zeros: not armed. */
struct timer {
	struct timer  *next;
	struct timer **pprev; /* the pointer that points here; NULL: not
			       * armed */
	sennit_time    expiry;
};

struct timers {
	uint64_t      tick;  /* earlier ticks have expired */
	size_t        count; /* number of armed timers */
	uint64_t      used[TIMERS_ALL / 64];
	struct timer *slots[TIMERS_ALL]; /* level by level */
};

void sn_timers_init(struct timers *w, sennit_time now);

/* Detach all timers whose deadline is not after `now`. *fired becomes their
 * chain through ->next, which ends in NULL, in the order of their ticks. A
 * timer that was armed after its deadline counts for the tick in which it was
 * armed. Returns the number of timers. They are no longer armed and must not be
 * cancelled. Each may be armed again as soon as the caller has read its ->next.
 *
 * A timer is never early, and late by at most one tick (16.4 us). A period
 * without timers costs nothing, however long it is. */
uint32_t sn_timers_expire(struct timers *w, sennit_time now,
			  struct timer **fired);

/* The time to call expire next: not later than the first timer can fire, and
 * late enough that a call which fires no timer at least moves timers down.
 * SENNIT_NEVER when there are no timers. */
sennit_time sn_timers_next(const struct timers *w);

/* The same for an owner that prefers to wake once for several timers: if three
 * of the next TIMERS_WAIT ticks have timers, the time after those ticks. So a
 * timer may be late by TIMERS_WAIT ticks, but a single timer is not delayed. */
sennit_time sn_timers_next_batch(const struct timers *w);

static inline bool sn_timers_is_empty(const struct timers *w)
{
	return w->count == 0;
}

static inline bool sn_timer_is_armed(const struct timer *t)
{
	return t->pprev;
}

/* The first tick that begins at or after `time`. */
static inline uint64_t sn_timers_tick(sennit_time time)
{
	uint64_t within = time & ((UINT64_C(1) << TIMERS_TICK_BITS) - 1);

	return (time >> TIMERS_TICK_BITS) + (within != 0);
}

/* Insert *t into the slot of its expiry, as seen from w->tick. */
static inline void sn_timers_place(struct timers *w, struct timer *t)
{
	uint64_t       tick = sn_timers_tick(t->expiry);
	unsigned       level;
	size_t         slot;
	struct timer **head;

	if (tick < w->tick)
		tick = w->tick;
	level = (63 - (unsigned)__builtin_clzll((tick - w->tick) | 1)) /
		TIMERS_DIGIT_BITS;
	slot = level * TIMERS_SLOTS +
	       (size_t)(tick >> (level * TIMERS_DIGIT_BITS)) % TIMERS_SLOTS;
	head = &w->slots[slot];
	t->next = *head;
	t->pprev = head;
	if (t->next)
		t->next->pprev = &t->next;
	*head = t;
	w->used[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* Arm *t, which must not be armed. A deadline that has passed fires at the next
 * expire. SENNIT_NEVER never fires. */
static inline void sn_timers_arm(struct timers *w, struct timer *t,
				 sennit_time deadline)
{
	t->expiry = deadline;
	sn_timers_place(w, t);
	w->count++;
}

/* Disarm *t, which must be armed. A timer that expire has returned is not. */
static inline void sn_timers_cancel(struct timers *w, struct timer *t)
{
	struct timer **pprev = t->pprev;
	size_t         slot = (size_t)((uintptr_t)pprev - (uintptr_t)w->slots) /
		      sizeof(*pprev);

	*pprev = t->next;
	if (t->next)
		t->next->pprev = pprev;
	else if (slot < TIMERS_ALL) /* it was the slot's only timer */
		w->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	t->pprev = NULL;
	w->count--;
}

#endif
