/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.h - what others leave: the inbox of one worker.
 *
 * It is a lock-free MPSC queue: any thread pushes nodes, and the owner
 * takes all of them at once. (A Treiber stack, emptied as a whole.)
 *
 *	head -> newest -> ... -> oldest -> NULL
 *
 * The stack is only emptied by a swap. No single node is removed while others
 * stay, so there is no ABA problem, and a stalled producer blocks nobody. A
 * producer that finds the inbox empty knows that the owner may be asleep.
 *
 * Invariants
 *   - The nodes of one push, a chain or a single node, stay together and
 *     in order.
 *   - Of two pushes, the nodes of the earlier one are taken first.
 *
 * Linearisation points. push: its successful compare-and-set. take: its swap,
 * or its load of NULL. Progress: push is lock-free, take is wait-free.
 */
#ifndef SN_INBOX_H
#define SN_INBOX_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"
#include "queue/blocks.h"
#include "queue/task.h"

#include <pthread.h>

struct deque;

struct inbox {
	a_ptr head; /* any: pushed by compare-and-set; NULL: empty */
};

/* Push a chain whose ->next links lead from its newest node to its oldest. That
 * is the order in which prepending one node after the other builds it. For a
 * single node both pointers are equal. Returns whether the inbox was empty.
 *
 * The nodes belong to the owner as soon as they are pushed. The caller must
 * first copy what it still needs of them. */
static inline bool sn_inbox_push(struct inbox *in, struct node *newest,
				 struct node *oldest)
{
	void *head = NULL; /* a guess; the CAS corrects it. A load first would
			    * fetch the cache line twice */

	do
		oldest->next = head;
	while (!a_cas_weak_rel(&in->head, &head,
			       newest)); /* -> inbox.push: nodes, links */
	TORTURE_POINT();                 /* pushed, but owner not woken yet */
	return !head;
}

/* Take all nodes, oldest first, as a chain that ends in NULL. *last becomes its
 * last node. Returns NULL when the inbox is empty; *last is then unset. Owner
 * only. */
static inline struct node *sn_inbox_take(struct inbox *in, struct node **last)
{
	struct node *chain = NULL;
	struct node *n;

	/* May miss only a push whose wake is still to come. */
	if (!a_load_rlx(&in->head))
		return NULL;
	n = a_swap_acq(&in->head, NULL); /* <- inbox.push */
	TORTURE_POINT();                 /* the nodes are in no queue now */
	*last = n;
	while (n) {
		struct node *older = n->next;

		n->next = chain;
		chain = n;
		n = older;
	}
	return chain;
}

/* Take all nodes as they were pushed: a chain from the newest to the oldest,
 * ready to be pushed elsewhere. Returns NULL when the inbox is empty. Any
 * thread. */
static inline struct node *sn_inbox_take_raw(struct inbox *in)
{
	struct node *n;

	/* May miss only a push whose producer looks at this inbox
	 * afterwards. */
	if (!a_load_rlx(&in->head))
		return NULL;
	n = a_swap_acq(&in->head, NULL); /* <- inbox.push */
	TORTURE_POINT();                 /* the nodes are in no queue now */
	return n;
}

/* Whether n is the only node. Nobody may push or take meanwhile. */
static inline bool sn_inbox_is_only(struct inbox *in, const struct node *n)
{
	return a_load_acq(&in->head) == n && !n->next; /* <- inbox.push */
}

/* A hint, for callers that look again or are woken. */
static inline bool sn_inbox_is_empty(const struct inbox *in)
{
	return !a_load_rlx(&in->head);
}

/* --- task inbox ----------------------------------------------------------- */

/* Tasks in an inbox, and their way from there to a deque. */

/* A task in an inbox: a block of the pool. */
struct queued_task {
	struct node node; /* first */
	struct task task;
};

/* Blocks lie at multiples of POOL_BLOCK. So the head has the number of tasks in
 * its low bits: this one, or fewer exactly. Nobody else could count them, since
 * blocks may go at any time, and a counter beside the head would be one more
 * word that producers and takers write. */
#define INBOX_COUNTED (POOL_BLOCK - 1)

static inline uint32_t sn_task_inbox_counted(void *head)
{
	return (uint32_t)((uintptr_t)head & INBOX_COUNTED);
}

static inline struct node *sn_task_inbox_newest(void *head)
{
	return (struct node *)((uintptr_t)head & ~(uintptr_t)INBOX_COUNTED);
}

/* As sn_inbox_push, for queued tasks. */
static inline bool sn_task_inbox_push(struct inbox *in, struct node *newest,
				      struct node *oldest)
{
	void    *head = NULL; /* a guess, as above */
	uint32_t count = 1, all;

	for (struct node *n = newest; n != oldest && count < INBOX_COUNTED;
	     n = n->next)
		count++;
	do {
		all = count + sn_task_inbox_counted(head);
		if (all > INBOX_COUNTED)
			all = INBOX_COUNTED;
		oldest->next = sn_task_inbox_newest(head);
	} while (!a_cas_weak_rel(&in->head, &head,
				 (char *)newest + all)); /* -> inbox.push:
							  * nodes, links */
	TORTURE_POINT(); /* pushed, but owner not woken yet */
	return !head;
}

/* As sn_inbox_take_raw, for queued tasks. */
static inline struct node *sn_task_inbox_take_raw(struct inbox *in)
{
	return sn_task_inbox_newest(sn_inbox_take_raw(in));
}

/* The number of queued tasks, for others; INBOX_COUNTED: that many or more. */
static inline uint32_t sn_task_inbox_count(const struct inbox *in)
{
	return sn_task_inbox_counted(a_load_rlx(&in->head));
}

/* The destinations of the tasks and of the blocks. All belong to the caller. */
struct queued_tasks_to {
	struct deque      *deque;
	struct pool_cache *cache;
	bool               oldest_first; /* whether its worker runs its own
					  * tasks oldest first */
};

/* An inbox with more queued tasks than this is not shared. */
#define PARCELS_SHARED 64u

/* Move the oldest tasks of *from to *to: 1/parts of them, rounded up; or all,
 * if there are more than PARCELS_SHARED. The order is such that the oldest runs
 * first. The rest, and tasks that find no room, go back. For a moment these
 * tasks are in no queue, so the caller must look for sleepers afterwards.
 * Returns the number of moved tasks. From: any worker. */
uint32_t sn_task_inbox_take(struct inbox                 *from,
			    const struct queued_tasks_to *to, uint32_t parts);

#endif
