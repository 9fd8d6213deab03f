/* SPDX-License-Identifier: Apache-2.0 */
/* task_inbox.h - tasks in an inbox, and their way from there to a deque. */
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

/* The destinations of the tasks and of the blocks. All belong to the caller. */
struct parcels_to {
	struct deque      *deque;
	struct pool_cache *cache;
	bool               oldest_first; /* whether its worker runs its own
					  * tasks oldest first */
};

/* An inbox with more parcels than this is not shared. */
#define PARCELS_SHARED 64u

/* Move the oldest tasks of *from to *to: 1/parts of them, rounded up; or all,
 * if there are more than PARCELS_SHARED. The order is such that the oldest runs
 * first. The rest, and tasks that find no room, go back. For a moment these
 * tasks are in no queue, so the caller must look for sleepers afterwards.
 * Returns the number of moved tasks. From: any worker. */
uint32_t sn_task_inbox_take(struct inbox *from, const struct parcels_to *to,
			    uint32_t parts);

#endif
