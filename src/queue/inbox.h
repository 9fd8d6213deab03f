/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.h - what others leave: the inbox of one worker, and below the backlog
 * of background tasks, which all workers of a scheduler take from.
 *
 * The inbox is a lock-free MPSC queue: any thread pushes nodes, and the owner
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
	struct node node;
	struct task task;
};

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

/* --- backlog -------------------------------------------------------------- */

/* The queue of background tasks, which run when a worker has no other work.
 *
 *	push --> oldest ... newest --> pass: to a worker without other work
 *	                           \-> pass when due: to a busy worker
 *
 * A ring under a lock is enough: background tasks are few, or long, or not
 * urgent. Workers look at the count often, and the count needs no lock.
 *
 * Invariants
 *   - `count` changes under the lock only, and says what is in the ring when
 *     that is free. Without the lock it may be late by a push whose maker has
 *     yet to look for sleepers, or by a pass.
 *   - While tasks are there, `due` is BACKLOG_PATIENCE after one was passed on
 *     last, or after the first was pushed.
 */

/* How long the oldest task waits for an idle worker before a busy worker gets
 * it. This is long compared with a task, and short for a person who waits. */
#define BACKLOG_PATIENCE (10 * SENNIT_MILLISECOND)

struct backlog {
	pthread_mutex_t lock;
	struct ring     tasks; /* under lock */

	_Alignas(CACHE_LINE) a_u32 count; /* under lock; read by any */
	a_u64 due; /* under lock; read by any: when a busy worker takes one */
};

/* Receives the task that is passed on. On an error the task stays in the
 * backlog. */
typedef int backlog_keeper(void *keeper, struct task t);

void sn_backlog_init(struct backlog *b, const sennit_allocator *memory);
void sn_backlog_free(struct backlog *b);

/* Add t at the time `now`. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_backlog_push(struct backlog *b, struct task t,
				    sennit_time now);

/* Free memory that a longer backlog needed. Any thread. */
void sn_backlog_trim(struct backlog *b);

/* Adds tasks to the ring. Adds all its tasks and returns 0, or adds none and
 * returns an error. */
typedef int backlog_filler(void *filler, struct ring *tasks);

/* Let fill(filler, ring) add tasks in one step, at the time `now`. Returns the
 * result of fill. */
SENNIT_MUST_USE int sn_backlog_fill(struct backlog *b, backlog_filler *fill,
				    void *filler, sennit_time now);

/* Pass the oldest task to keep(keeper, task), at the time `now`. Returns false
 * when there was no task, or keep returned an error. */
bool sn_backlog_pass(struct backlog *b, sennit_time now, backlog_keeper *keep,
		     void *keeper);

/* The number of tasks; may be stale as the invariants say. */
static inline uint32_t sn_backlog_count(const struct backlog *b)
{
	return a_load_rlx(&b->count);
}

static inline bool sn_backlog_is_empty(const struct backlog *b)
{
	return !sn_backlog_count(b);
}

/* Whether the oldest task has waited for BACKLOG_PATIENCE, so that busy workers
 * must take it. */
static inline bool sn_backlog_is_due(const struct backlog *b, sennit_time now)
{
	/* A stale value makes one worker too many take a task, or delays this
	 * until the next look. */
	return unlikely(!sn_backlog_is_empty(b)) && now >= a_load_rlx(&b->due);
}

#endif
