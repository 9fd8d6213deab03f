/* SPDX-License-Identifier: Apache-2.0 */
/* timers.h - which deadlines have passed: a wheel of wheels, for one owner.
 *
 *	level 0   [ ][ ][t][ ] ... [ ]	256 slots of one tick (16 us)
 *	level 1   [ ][t][ ][ ] ... [ ]	256 slots of 256 ticks (4 ms)
 *	...
 *	level 6				256 slots of 256^6 ticks
 *
 * A tick number is read as seven digits of eight bits. A timer that is fewer
 * than 256^(l+1) ticks away lies on level l, in the slot which digit l of its
 * tick names. As time reaches a slot above level 0, its timers move down. Seven
 * levels hold every sennit_time: no deadline is too far.
 *
 * Invariants
 *   - A slot that is in use begins at `tick` or later, and is one of the next
 *     256 of its level to do so: its place in the level says when it begins.
 *   - Bit s % 64 of used[s / 64] is set exactly when slot s has timers.
 *   - All of it belongs to the owner: plain memory.
 *
 * A timer's memory must stay until it was cancelled or came back from expire.
 * (Varghese and Lauck.)
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
	TIMERS_WAIT = 5 /* ticks: see sn_timers_look */
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
	uint64_t      used[TIMERS_ALL / 64];
	struct timer *slots[TIMERS_ALL]; /* level by level */
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

/* The same for an owner that would rather wake up once for several timers:
 * where three of the next TIMERS_WAIT ticks have some, after those ticks. So
 * each is late by that at most, and a lone one is not. */
sennit_time sn_timers_look(const struct timers *w);

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
	else if (slot < TIMERS_ALL) /* it was the only one */
		w->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	t->pprev = NULL;
	w->count--;
}

#endif
