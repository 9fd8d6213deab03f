/* SPDX-License-Identifier: Apache-2.0 */
/* passing.h - objects that fibers and threads pass on. */
#ifndef SN_TEST_PASSING_H
#define SN_TEST_PASSING_H

#include "testing/crowd.h"
#include "testing/random.h"

/* --- passing ----------------------------------------------------------- */

/* Objects with two owners each. The last owner to leave overwrites
 * and frees the object, while the other may still be on its way out. */

enum { SLOTS = 4, PATTERN = 0xa5 };

/* By the last owner: an unlock that still uses the object would abort. */
static inline void scrap(void *passed, size_t size)
{
	memset(passed, PATTERN, size);
	free(passed);
}

struct passing {
	void *(*make)(void);         /* makes an object for two owners */
	void (*leave)(void *passed); /* leaves the object as one of its
				      * owners */
	unsigned        rounds;
	atomic_uint     next;
	_Atomic(void *) slots[SLOTS];
};

/* Put an object into a slot and keep one share of it. Take the object that was
 * there, and drop that share. */
static inline void pass_on(void *argument)
{
	struct passing *g = argument;
	uint64_t        random = random_stream(atomic_fetch_add(&g->next, 1));

	for (unsigned i = 0; i < g->rounds; i++) {
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

	gather(&c);
	disperse(&c);
	for (unsigned i = 0; i < SLOTS; i++)
		if (atomic_load(&g->slots[i]))
			g->leave(atomic_load(&g->slots[i]));
}

#endif
