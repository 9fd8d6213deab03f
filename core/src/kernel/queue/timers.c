/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/timers.h"

#include "base/torture.h"

#include <string.h>

/* The maximum number of timers of a slot that are examined to find the
 * first. */
#define FEW_TIMERS 8

/* How many of the next TIMERS_WAIT ticks must have timers before the owner
 * waits for all of them. */
#define SEVERAL 3

/* A slot and its time. */
struct place {
	size_t   slot; /* TIMERS_ALL: no slot */
	uint64_t tick; /* at which the slot begins; UINT64_MAX for no slot */
};

static const struct place no_timer_slot = { .slot = TIMERS_ALL,
					    .tick = UINT64_MAX };

void sn_timers_init(struct timers *w, sennit_time now)
{
	memset(w, 0, sizeof(*w));
	w->tick = now >> TIMERS_TICK_BITS;
}

/* The first set bit of a level, from bit `from` on, wrapping around.
 * TIMERS_SLOTS: none is set. */
static unsigned first_bit(const uint64_t *level, unsigned from)
{
	enum { WORDS = TIMERS_SLOTS / 64 };
	uint64_t below = (UINT64_C(1) << from % 64) - 1;
	uint64_t word = level[from / 64] & ~below;
	unsigned at = from / 64;

	for (int left = WORDS; !word && left; left--) {
		at = (at + 1) % WORDS;
		word = level[at];
		if (left == 1)
			word &= below;
	}
	return word ? at * 64 + (unsigned)__builtin_ctzll(word) : TIMERS_SLOTS;
}

/* The first slot of a level that is in use. */
static struct place first_of(const struct timers *w, unsigned level)
{
	unsigned shift = level * TIMERS_DIGIT_BITS;
	uint64_t from = (w->tick + (UINT64_C(1) << shift) - 1) >> shift;
	unsigned begin = (unsigned)(from % TIMERS_SLOTS);
	unsigned bit = first_bit(&w->used[level * TIMERS_SLOTS / 64], begin);

	if (bit == TIMERS_SLOTS)
		return no_timer_slot;
	return (struct place){
		.slot = level * TIMERS_SLOTS + bit,
		.tick = (from + (bit - begin) % TIMERS_SLOTS) << shift,
	};
}

/* The first slot of all levels that is in use. Of several that begin at the
 * same tick, the one on the highest level, whose timers move down to the
 * others. */
static struct place find_first(const struct timers *w)
{
	struct place first = no_timer_slot;

	for (unsigned level = 0; level < TIMERS_LEVELS; level++) {
		struct place p = first_of(w, level);

		if (p.tick <= first.tick)
			first = p;
	}
	return first;
}

static struct timer *empty_slot(struct timers *w, const struct place *p)
{
	struct timer *chain = w->slots[p->slot];

	w->slots[p->slot] = NULL;
	w->used[p->slot / 64] &= ~(UINT64_C(1) << p->slot % 64);
	return chain;
}

/* Time has reached the slot *p: move its timers to lower levels. */
static void move_down(struct timers *w, const struct place *p)
{
	struct timer *next;

	for (struct timer *t = empty_slot(w, p); t; t = next) {
		next = t->next;
		__builtin_prefetch(next, 1);
		sn_timers_place(w, t);
	}
}

/* Append the slot's timers to the chain that ends at **end. */
static uint32_t fire(struct timers *w, const struct place *p,
		     struct timer ***end)
{
	uint32_t count = 0;

	**end = empty_slot(w, p);
	for (struct timer *t = **end; t; t = t->next) {
		t->pprev = NULL;
		*end = &t->next;
		count++;
	}
	return count;
}

/* Each round empties a slot, and a timer moves down at most once per level. So
 * the cost depends on the number of timers, not on the time that has passed. */
uint32_t sn_timers_expire(struct timers *w, sennit_time now,
			  struct timer **fired)
{
	uint64_t       until = now >> TIMERS_TICK_BITS;
	struct timer **end = fired;
	uint32_t       count = 0;

	*fired = NULL;
	if (until < w->tick)
		until = w->tick; /* an earlier call came this far */
	for (;;) {
		struct place p = find_first(w);

		if (p.tick > until)
			break;
		w->tick = p.tick;
		if (p.slot < TIMERS_SLOTS)
			count += fire(w, &p, &end);
		else
			move_down(w, &p);
	}
	w->tick = until;
	w->count -= count;
	TORTURE_POINT(); /* expired, not claimed yet */
	return count;
}

/* The earliest tick of a slot's timers. For more than FEW_TIMERS it is a
 * lower bound. With few timers the exact tick is found, so that an owner that
 * sleeps until a single distant deadline wakes once, not once per level. */
static uint64_t first_within(const struct timers *w, const struct place *p)
{
	const struct timer *t = w->slots[p->slot];
	uint64_t            first = UINT64_MAX;

	for (int looks = 0; t && looks < FEW_TIMERS; t = t->next, looks++) {
		uint64_t tick = sn_timers_tick(t->expiry);

		if (tick < first)
			first = tick;
	}
	return t ? p->tick : first;
}

/* The first tick that may have timers. */
static uint64_t next_tick(const struct timers *w)
{
	uint64_t first = UINT64_MAX;

	if (sn_timers_is_empty(w))
		return first;
	first = first_of(w, 0).tick;
	for (unsigned level = 1; level < TIMERS_LEVELS; level++) {
		struct place p = first_of(w, level);
		uint64_t     tick;

		if (p.tick >= first)
			continue;
		tick = first_within(w, &p);
		if (tick < first)
			first = tick;
	}
	return first;
}

static sennit_time time_of_tick(uint64_t tick)
{
	return tick > SENNIT_NEVER >> TIMERS_TICK_BITS
		       ? SENNIT_NEVER
		       : tick << TIMERS_TICK_BITS;
}

sennit_time sn_timers_next(const struct timers *w)
{
	return time_of_tick(next_tick(w));
}

/* Whether at least SEVERAL of the TIMERS_WAIT ticks from this one on have
 * timers. Timers on higher levels do not count. */
static bool is_crowded(const struct timers *w, uint64_t tick)
{
	unsigned ticks = 0;

	for (unsigned i = 0; i < TIMERS_WAIT; i++)
		ticks += w->slots[(tick + i) % TIMERS_SLOTS] != NULL;
	return ticks >= SEVERAL;
}

sennit_time sn_timers_next_batch(const struct timers *w)
{
	uint64_t tick = next_tick(w);

	if (tick < w->tick + TIMERS_SLOTS - TIMERS_WAIT && is_crowded(w, tick))
		tick += TIMERS_WAIT - 1;
	return time_of_tick(tick);
}
