/* SPDX-License-Identifier: Apache-2.0 */
/* task_inbox.h - tasks in an inbox, and how they get from there onto a
 * deque. */
#ifndef SN_TASK_INBOX_H
#define SN_TASK_INBOX_H

#include "core/deque.h"
#include "core/inbox.h"
#include "core/pool.h"

/* A task in an inbox: a block of the pool. */
struct parcel {
	struct node node;
	struct task task;
};

/* Where the tasks of parcels go, and the blocks: all the caller's own. */
struct parcels_to {
	struct deque      *deque;
	struct pool_cache *cache;
	bool               oldest_first; /* it runs its own tasks so */
};

/* Where more than this lie in an inbox they are not shared. */
#define PARCELS_SHARED 64u

/* Move the oldest tasks of *from, a `parts`-th of them, rounded up, or, of more
 * than PARCELS_SHARED, all, in such an order that the oldest runs first. The
 * rest, and what finds no room, goes back. For a moment all are in no queue:
 * the caller looks for sleepers afterwards. Returns how many were moved. From:
 * any worker.  */
uint32_t sn_task_inbox_take(struct inbox *from, const struct parcels_to *to,
			    uint32_t parts);

#endif
