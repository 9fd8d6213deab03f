/* SPDX-License-Identifier: Apache-2.0 */
/* timers.h - which deadlines have passed: a wheel of wheels, for one owner.
 *
 *	level 0   [ ][ ][t][ ] ... [ ]	64 slots of one tick (16 us)
 *	level 1   [ ][t][ ][ ] ... [ ]	64 slots of 64 ticks (1 ms)
 *	...
 *	level 8				64 slots of 64^8 ticks
 *
 * A tick number is read as nine digits of six bits. A timer lies on the level
 * of the highest digit in which its tick differs from the current one, in the
 * slot which that digit names. As time reaches a slot above level 0, its timers
 * move down. Nine levels hold every sennit_time: no deadline is too far.
 *
 * Invariants
 *   - A timer on level l agrees with `tick` in all digits above l, and has the
 *     greater digit l; on level 0 also the same. So all timers of a level come
 *     before all timers of the levels above.
 *   - Bit s of used[l] is set exactly when slot s of level l has timers.
 *   - All of it belongs to the owner: plain memory.
 *
 * A timer lies in the waiter's memory, which must stay until it was cancelled
 * or came back from expire. (Varghese and Lauck.)
 */
#ifndef SN_TIMERS_H
#define SN_TIMERS_H

#include "base/compiler.h"
#include "sennit/base.h"

#include <stdbool.h>

enum {
	TIMERS_TICK_BITS = 14, /* 16.4 us */
	TIMERS_DIGIT_BITS = 6,
	TIMERS_SLOTS = 1 << TIMERS_DIGIT_BITS,
	TIMERS_LEVELS = 9
};

/* All zero: not armed. */
struct timer {
	struct timer  *next;
	struct timer **pprev; /* what points here; NULL: not armed */
	sennit_time    expiry;
};

struct timers {
	uint64_t      tick;  /* what lies before has been expired */
	size_t        count; /* of those armed */
	uint64_t      used[TIMERS_LEVELS];
	struct timer *slots[TIMERS_LEVELS][TIMERS_SLOTS];
};

void sn_timers_init(struct timers *w, sennit_time now);

/* Detach all timers whose deadline is not after now. *fired becomes their chain
 * through ->next, ending in NULL, in the order of their ticks; one that was
 * armed too late counts for the tick in which it was armed. Returns how many.
 * They are not armed any more: each may be armed again, none be cancelled, once
 * the caller has read its ->next.
 *
 * Never early, and late by at most one tick. Time spent without a timer costs
 * nothing, however long. */
uint32_t sn_timers_expire(struct timers *w, sennit_time now,
			  struct timer **fired);

/* When to call expire next: not later than the first timer can fire, but late
 * enough that the call brings timers nearer if it fires none. SENNIT_NEVER when
 * there is nothing to wait for. */
sennit_time sn_timers_next(const struct timers *w);

static inline bool sn_timers_is_empty(const struct timers *w)
{
	return w->count == 0;
}

static inline size_t sn_timers_count(const struct timers *w)
{
	return w->count;
}

static inline bool sn_timer_is_armed(const struct timer *t)
{
	return t->pprev;
}

/* The first tick that begins at or after the time. */
static inline uint64_t sn_timers_tick(sennit_time time)
{
	uint64_t within = time & ((UINT64_C(1) << TIMERS_TICK_BITS) - 1);

	return (time >> TIMERS_TICK_BITS) + (within != 0);
}

/* Put *t where its expiry belongs as of w->tick. */
static inline void sn_timers_place(struct timers *w, struct timer *t)
{
	uint64_t       tick = sn_timers_tick(t->expiry);
	unsigned       level;
	unsigned       slot;
	struct timer **head;

	if (tick < w->tick)
		tick = w->tick;
	level = (63 - (unsigned)__builtin_clzll((tick ^ w->tick) | 1)) /
		TIMERS_DIGIT_BITS;
	slot = (unsigned)(tick >> (level * TIMERS_DIGIT_BITS)) % TIMERS_SLOTS;
	head = &w->slots[level][slot];
	t->next = *head;
	t->pprev = head;
	if (t->next)
		t->next->pprev = &t->next;
	*head = t;
	w->used[level] |= UINT64_C(1) << slot;
}

/* Arm *t, which is not armed. A deadline that has passed fires at the next
 * expire; SENNIT_NEVER never fires. */
static inline void sn_timers_arm(struct timers *w, struct timer *t,
				 sennit_time deadline)
{
	t->expiry = deadline;
	sn_timers_place(w, t);
	w->count++;
}

/* Disarm *t, which is armed: not one that expire has returned. */
static inline void sn_timers_cancel(struct timers *w, struct timer *t)
{
	struct timer **pprev = t->pprev;
	size_t         slot = (size_t)((uintptr_t)pprev - (uintptr_t)w->slots) /
		      sizeof(*pprev);

	*pprev = t->next;
	if (t->next)
		t->next->pprev = pprev;
	else if (slot < TIMERS_LEVELS * TIMERS_SLOTS) /* it was the only one */
		w->used[slot / TIMERS_SLOTS] &= ~(UINT64_C(1)
						  << slot % TIMERS_SLOTS);
	t->pprev = NULL;
	w->count--;
}

#endif
