/* SPDX-License-Identifier: Apache-2.0 */
/* run_queue.h - what a worker has to run, and what comes next.
 *
 *	ready    fibers that go on, first in, first out
 *	pinned   tasks that stay with the worker
 *	deque    tasks that thieves may take; of multi-threaded workers only
 *
 * Ready fibers run first; every WORKER_UPKEEP dispatches it is a task's turn.
 * Only the worker's own thread touches it, but for the thieves' end of the
 * deque.
 */
#ifndef SN_RUN_QUEUE_H
#define SN_RUN_QUEUE_H

#include "core/deque.h"
#include "core/ring.h"
#include "fiber/fiber.h"

/* Deque capacity at the start, and how many tasks a thief takes at most: an
 * empty deque always has room for them. */
#ifdef SENNIT_TORTURE
#define WORKER_DEQUE 2u
#define WORKER_LOOT  2u
#else
#define WORKER_DEQUE 256u
#define WORKER_LOOT  32u
#endif

/* [W1] The bound of fairness: every so many dispatches, of fibers and tasks
 * alike, inbox and timers have their turn, and one task starts even if fibers
 * are ready. 61 as in Go's scheduler: a prime, so that no pattern of the
 * program's keeps in step. */
#define WORKER_UPKEEP 61u

/* Every so many upkeeps that fall between tasks the oldest own task runs:
 * newest first alone could leave it for ever. Not more often: each opens work
 * that fork-join would rather finish; every 61 dispatches fib(32) took 22,000
 * stacks. */
#define WORKER_OLDEST 1024u

struct run_queue {
	struct fifo  ready;        /* owner: fibers to resume */
	uint32_t     dispatches;   /* owner: until the next upkeep */
	uint32_t     upkeeps;      /* owner: until the oldest's turn */
	bool         oldest_first; /* fixed: the order of own tasks */
	bool         threaded;     /* fixed: MTW: there is a deque */
	bool         unfenced;     /* fixed: own pushes need no fence */
	bool         draining;     /* owner: takes no new tasks */
	bool         pushes;       /* owner: own tasks go to the deque, and need
				 * no fence; not while it drains */
	bool         pops;         /* owner: own tasks come from there */
	struct ring  pinned;       /* owner: tasks that stay */
	struct deque deque;        /* MTW only */
};

/* What a new run queue is like. */
struct run_queue_kind {
	bool threaded;     /* of an MTW */
	bool oldest_first; /* the order of own tasks */
	bool asymmetric;   /* os_process_barrier() works */
	bool spread;       /* own tasks go to others */
};

/* 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_run_queue_init(struct run_queue            *q,
				      const struct run_queue_kind *kind,
				      const sennit_allocator      *memory);
void                sn_run_queue_free(struct run_queue *q);

/* It takes no new tasks from now on, or does so again. */
void sn_run_queue_drain(struct run_queue *q, bool drains);

/* Give back what it has grown by; whether there may be something. */
void sn_run_queue_trim(struct run_queue *q);
bool sn_run_queue_is_large(const struct run_queue *q);

/* --- adding ------------------------------------------------------------- */

static inline struct deque *sn_run_queue_deque(const struct run_queue *q)
{
	return (struct deque *)&q->deque;
}

static inline struct ring *sn_run_queue_pinned(struct run_queue *q)
{
	return &q->pinned;
}

/* f is ready to go on. */
static inline void sn_run_queue_ready(struct run_queue    *q,
				      struct sennit_fiber *f)
{
	sn_fifo_push(&q->ready, &f->link);
}

/* The same for a chain of fibers, the oldest first. */
static inline void sn_run_queue_ready_all(struct run_queue *q,
					  struct node *first, struct node *last)
{
	sn_fifo_append(&q->ready, first, last);
}

/* Queue a task of the owner's where those go. 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_run_queue_keep(struct run_queue *q, struct task t);

/* Queue tasks that were stolen, oldest first, on an empty deque, which has room
 * for WORKER_LOOT. */
void sn_run_queue_keep_loot(struct run_queue *q, const struct task loot[],
			    uint32_t n);

/* --- what there is ------------------------------------------------------ */

static inline bool sn_run_queue_has_ready(const struct run_queue *q)
{
	return q->ready.head;
}

static inline bool sn_run_queue_has_pinned(const struct run_queue *q)
{
	return !sn_ring_is_empty(&q->pinned);
}

/* Tasks that the owner may start itself. */
static inline bool sn_run_queue_has_task(const struct run_queue *q)
{
	return sn_run_queue_has_pinned(q) ||
	       sn_deque_has_tasks_owner(&q->deque);
}

/* What only the owner can do. */
static inline bool sn_run_queue_has_own(const struct run_queue *q)
{
	return sn_run_queue_has_ready(q) || sn_run_queue_has_pinned(q);
}

/* Whether the newest own task would be taken next: no fiber, pinned task or
 * older one goes before it. */
static inline bool sn_run_queue_wants_newest(const struct run_queue *q)
{
	return !q->ready.head && q->pops && sn_ring_is_empty(&q->pinned);
}

static inline bool sn_run_queue_is_oldest_first(const struct run_queue *q)
{
	return q->oldest_first;
}

static inline bool sn_run_queue_is_draining(const struct run_queue *q)
{
	return q->draining;
}

/* Whether own tasks go to the deque, and need no fence. */
static inline bool sn_run_queue_pushes(const struct run_queue *q)
{
	return q->pushes;
}

/* Whether own tasks come from the deque, the newest first. */
static inline bool sn_run_queue_pops(const struct run_queue *q)
{
	return q->pops;
}

/* --- whose turn it is --------------------------------------------------- */

/* Count a dispatch. True: upkeep is due, and afterwards it is a task's turn. */
static inline bool sn_run_queue_tick(struct run_queue *q)
{
	return !--q->dispatches;
}

/* Whether the next tick says so, or so many ticks. */
static inline bool sn_run_queue_is_due(const struct run_queue *q)
{
	return q->dispatches == 1;
}

static inline void sn_run_queue_due_in(struct run_queue *q, uint32_t ticks)
{
	q->dispatches = ticks;
}

/* For fork_join.h, whose macros count on their own; down to 0, which is as
 * good as 1. */
static inline uint32_t *sn_run_queue_dispatches(struct run_queue *q)
{
	return &q->dispatches;
}

/* Whether the next task's turn is the oldest's. */
static inline bool sn_run_queue_is_oldest_due(const struct run_queue *q)
{
	return q->upkeeps == 1;
}

/* A task's turn goes by. True: it is the oldest's. */
static inline bool sn_run_queue_turn(struct run_queue *q)
{
	if (--q->upkeeps)
		return false;
	q->upkeeps = WORKER_OLDEST;
	return true;
}

/* --- taking ------------------------------------------------------------- */

/* Each fiber lies on a page of its own. The record of the next one has been
 * fetched while the one before ran: now for what it resumes with, and for the
 * record of the one after it. */
static inline void sn_run_queue_fetch_ahead(const struct node *next)
{
	const struct sennit_fiber *f = container_of(next, struct sennit_fiber,
						    link);
	/* A number: null for one that is ready before it was ever left. */
	const uintptr_t frames = (uintptr_t)f->suspended;

	__builtin_prefetch((const void *)frames);
	__builtin_prefetch((const void *)(frames + 64));
	__builtin_prefetch((const void *)(frames + 128));
	__builtin_prefetch((const void *)(frames + 192));
	/* run_loop's, which ends the task. */
	__builtin_prefetch((const void *)((uintptr_t)f - 64));
	__builtin_prefetch(next->next);
}

/* The fiber that has been ready longest; NULL: none is. */
static ALWAYS_INLINE struct sennit_fiber *sn_run_queue_take_ready(
	struct run_queue *q)
{
	struct node *n = q->ready.head;

	if (!n)
		return NULL;
	q->ready.head = n->next;
	if (n->next)
		sn_run_queue_fetch_ahead(n->next);
	return container_of(n, struct sennit_fiber, link);
}

/* Where there are pinned tasks, or the newest does not go first. */
NOINLINE bool sn_run_queue_take_mixed(struct run_queue *q, struct task *t);

/* The next own task. */
static ALWAYS_INLINE bool sn_run_queue_take(struct run_queue *q, struct task *t)
{
	if (likely(q->pops && sn_ring_is_empty(&q->pinned)))
		return sn_deque_pop(&q->deque, t);
	return sn_run_queue_take_mixed(q, t);
}

/* The oldest own task, where thieves have not taken it. */
bool sn_run_queue_take_oldest(struct run_queue *q, struct task *t);

#endif
