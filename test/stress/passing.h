/* SPDX-License-Identifier: Apache-2.0 */
/* passing.h - fibers and threads in pairs, or that pass one by one. */
#ifndef SN_TEST_PASSING_H
#define SN_TEST_PASSING_H

#include "../api/crowd.h"
#include "../random.h"

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

/* --- pairs ------------------------------------------------------------- */

/* Pairs of a waiter and a server that ends its waits. */

enum { PAIRS = 4 };

/* Run serve(cell) and use(cell) for all cells at once, as tasks, except for one
 * of each that runs on an unbound thread. */
static inline void run_pairs(sennit_scheduler *s, sennit_task_fn *serve,
			     sennit_task_fn *use, void *const cells[PAIRS])
{
	struct crowd servers[PAIRS], users[PAIRS];
	unsigned     i;

	for (i = 0; i < PAIRS; i++) {
		servers[i] = (struct crowd){ .s = s,
					     .run = serve,
					     .argument = cells[i],
					     .tasks = i != 1,
					     .unbound = i == 1 };
		users[i] = (struct crowd){ .s = s,
					   .run = use,
					   .argument = cells[i],
					   .tasks = i != 2,
					   .unbound = i == 2 };
		gather(&servers[i]);
		gather(&users[i]);
	}
	for (i = 0; i < PAIRS; i++) {
		disperse(&servers[i]);
		disperse(&users[i]);
	}
}

#endif
