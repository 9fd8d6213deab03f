/* SPDX-License-Identifier: Apache-2.0 */
/* deadlocks.h - the deadlocks of schedulers, kept to be printed beside the
 * stacks of their fibers. They are those of sennit_scheduler_wait_graph, from
 * copied memory. */
#ifndef SN_DEADLOCKS_H
#define SN_DEADLOCKS_H

#include "sennit/report.h"

/* A wait of a deadlock, and who holds what it waits for. */
struct deadlock_wait {
	uint32_t    number;        /* of the deadlock, from 1 */
	uint32_t    thread, fiber; /* with `object` and `since` they tell waits
				 * from each other */
	const void *object;
	sennit_time since;
	uint32_t    holder_worker, holder_thread, holder_fiber;
};

struct deadlocks {
	struct deadlock_wait *waits;
	size_t                count;
	size_t                capacity;
	uint32_t              numbers; /* deadlocks of earlier schedulers */
};

/* Find the deadlocks of the scheduler, or of all schedulers if it is 0. What
 * finds no memory is left out. */
void sn_deadlocks_find(struct deadlocks *d, uintptr_t scheduler);

/* The deadlock that the fiber's wait belongs to, or NULL. */
const struct deadlock_wait *sn_deadlocks_of(const struct deadlocks    *d,
					    const sennit_report_entry *e);

void sn_deadlocks_free(struct deadlocks *d);

#endif
