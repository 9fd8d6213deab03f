/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - pairs of a waiter and a server that ends its waits. */
#ifndef SN_TEST_PAIRS_H
#define SN_TEST_PAIRS_H

#include "../api/crowd.h"

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
