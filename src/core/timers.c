/* SPDX-License-Identifier: Apache-2.0 */
#include "core/timers.h"

#include "base/torture.h"

#include <string.h>

/* A slot that nothing comes before. */
struct first {
	unsigned level; /* TIMERS_LEVELS: there is none */
	unsigned slot;
	uint64_t tick; /* at which it begins */
};

void sn_timers_init(struct timers *w, sennit_time now)
{
	memset(w, 0, sizeof(*w));
	w->tick = now >> TIMERS_TICK_BITS;
}

/* The lowest level in use comes before all others. */
static struct first find_first(const struct timers *w)
{
	struct first f = { 0 };
	unsigned     shift;

	while (f.level < TIMERS_LEVELS && !w->used[f.level])
		f.level++;
	if (f.level == TIMERS_LEVELS)
		return f;
	shift = f.level * TIMERS_DIGIT_BITS;
	f.slot = (unsigned)__builtin_ctzll(w->used[f.level]);
	f.tick = ((w->tick >> shift) - (w->tick >> shift) % TIMERS_SLOTS +
		  f.slot)
		 << shift;
	return f;
}

static struct timer *empty_slot(struct timers *w, const struct first *f)
{
	struct timer *chain = w->slots[f->level][f->slot];

	w->slots[f->level][f->slot] = NULL;
	w->used[f->level] &= ~(UINT64_C(1) << f->slot);
	return chain;
}

/* Time has come to the slot *f: its timers go to lower levels. */
static void move_down(struct timers *w, const struct first *f)
{
	struct timer *next;

	for (struct timer *t = empty_slot(w, f); t; t = next) {
		next = t->next;
		__builtin_prefetch(next, 1);
		sn_timers_place(w, t);
	}
}

/* Append the slot's timers to the chain that ends at **end. */
static uint32_t fire(struct timers *w, const struct first *f,
		     struct timer ***end)
{
	uint32_t count = 0;

	**end = empty_slot(w, f);
	for (struct timer *t = **end; t; t = t->next) {
		t->pprev = NULL;
		*end = &t->next;
		count++;
	}
	return count;
}

/* Each round empties a slot, and a timer moves down at most once a level: the
 * cost follows the timers, not the time that has passed. */
uint32_t sn_timers_expire(struct timers *w, sennit_time now,
			  struct timer **fired)
{
	uint64_t       until = now >> TIMERS_TICK_BITS;
	struct timer **end = fired;
	uint32_t       count = 0;

	*fired = NULL;
	if (until < w->tick)
		until = w->tick; /* as far as an earlier call came */
	for (;;) {
		struct first f = find_first(w);

		if (f.level == TIMERS_LEVELS || f.tick > until)
			break;
		w->tick = f.tick;
		if (f.level == 0)
			count += fire(w, &f, &end);
		else
			move_down(w, &f);
	}
	w->tick = until;
	w->count -= count;
	TORTURE_POINT(); /* expired, not claimed */
	return count;
}

/* A few timers are looked at one by one: an owner that sleeps until a lone
 * deadline far off then wakes once, not once a level. */
sennit_time sn_timers_next(const struct timers *w)
{
	struct first        f = find_first(w);
	uint64_t            first = UINT64_MAX;
	const struct timer *t;
	int                 looks = 8;

	if (f.level == TIMERS_LEVELS)
		return SENNIT_NEVER;
	for (t = w->slots[f.level][f.slot]; t && looks; t = t->next, looks--) {
		uint64_t tick = sn_timers_tick(t->expiry);

		if (tick < first)
			first = tick;
	}
	if (f.level == 0 || t)
		first = f.tick;
	return first > SENNIT_NEVER >> TIMERS_TICK_BITS
		       ? SENNIT_NEVER
		       : first << TIMERS_TICK_BITS;
}
