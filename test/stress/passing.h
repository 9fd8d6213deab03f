/* SPDX-License-Identifier: Apache-2.0 */
/* passing.h - things that have two owners each, of whom the last to leave one
 * overwrites and frees it, while the other may still be on its way out.
 */
#ifndef SN_TEST_PASSING_H
#define SN_TEST_PASSING_H

#include "../api/crowd.h"
#include "../random.h"

enum { SLOTS = 4 };

struct passing {
	void *(*make)(void);         /* for two owners */
	void (*leave)(void *passed); /* as one of them */
	unsigned        rounds;
	atomic_uint     next;
	_Atomic(void *) slots[SLOTS];
};

/* Put one in a slot, keep one share; take what was there, drop that share. */
static inline void pass_on(void *argument)
{
	struct passing *g = argument;
	uint64_t        random = random_stream(atomic_fetch_add(&g->next, 1));
	unsigned        i;

	for (i = 0; i < g->rounds; i++) {
		void *mine = g->make();
		void *other = atomic_exchange(
			&g->slots[random_below(&random, SLOTS)], mine);

		g->leave(mine);
		if (other)
			g->leave(other);
		if (!random_below(&random, 16))
			sennit_yield();
	}
}

static inline void pass_around(struct passing *g, sennit_scheduler *s)
{
	struct crowd c = { .s = s,
			   .run = pass_on,
			   .argument = g,
			   .tasks = 5,
			   .bound = 1,
			   .unbound = 1 };
	unsigned     i;

	gather(&c);
	disperse(&c);
	for (i = 0; i < SLOTS; i++)
		if (atomic_load(&g->slots[i]))
			g->leave(atomic_load(&g->slots[i]));
}

#endif
