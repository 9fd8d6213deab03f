/* SPDX-License-Identifier: Apache-2.0 */
/* run_queue.h - what a worker has to run, and in which order.
 *
 *	ready    fibers that can continue, first in, first out
 *	pinned   tasks that stay with the worker
 *	deque    tasks that thieves may take; only in multi-threaded workers
 *
 * Ready fibers run first. After every WORKER_UPKEEP dispatches it is a task's
 * turn. Where the newest task comes first, the
 * oldest comes before it if tasks have waited for AGED: see struct aging.
 * Only the worker's own thread accesses this, except for the thieves' end of
 * the deque.
 */
#ifndef SN_RUN_QUEUE_H
#define SN_RUN_QUEUE_H

#include "core/deque.h"
#include "core/ring.h"
#include "fiber/fiber.h"

/* The initial capacity of a deque, and the maximum number of tasks that a thief
 * takes. An empty deque always has room for them. */
#ifdef SENNIT_TORTURE
#define WORKER_DEQUE 2u
#define WORKER_LOOT  2u
#else
#define WORKER_DEQUE 256u
#define WORKER_LOOT  32u
#endif

/* [W1] The fairness bound: after this many dispatches of fibers and tasks, the
 * worker checks inbox and timers, and one task starts even if fibers are ready.
 * 61 as in Go's scheduler: a prime, so that no pattern of the program stays in
 * step with it. */
#define WORKER_UPKEEP 61u

/* [W1] The fairness bound in time. Where own tasks have waited for so long, the
 * oldest has its turn. A look may find that half of this late, and an upkeep
 * comes within half of this, so no task stays the oldest for 1 ms. A shorter
 * time would start work that fork-join should postpone: each such start holds
 * the stacks of a branch. */
#define AGED (500 * SENNIT_MICROSECOND)

/* A turn of the oldest tasks lasts until one of them has scheduled another, for
 * so many tasks, or for half of AGED. */
#define AGED_TASKS 64u

/* The first upkeep after an idle time comes after so many dispatches. */
#define AGING_FIRST 4u

/* While dispatches are short, the clock is read at every fourth upkeep. */
#define AGING_BLIND 4u

/* Of the upkeeps between calls in place (fork_join.h) in which nobody would get
 * a turn, at most this many in a row are left out. */
#define WORKER_SKIPS 7u

/* How long the oldest own task has waited, and what dispatches take. */
struct aging {                /* all: owner */
	sennit_time looked;   /* the last reading of the clock; 0: unknown,
			       * as the worker was idle since */
	sennit_time since;    /* there have been own tasks at each look since
			       * then, and no turn of the oldest; 0: no look */
	sennit_time ends;     /* when the turn of the oldest tasks ends */
	sennit_time quiet;    /* time with short dispatches since long ones */
	uint32_t    newest;   /* the position after the newest task in that
			       * turn */
	uint32_t    left;     /* the tasks that the turn may have beside; 0: it
			       * has not begun */
	uint32_t    blind;    /* upkeeps until the clock is read */
	uint32_t    interval; /* dispatches between upkeeps */
	uint32_t    next;     /* those up to the next upkeep, at most */
	uint32_t    passed;   /* those since a task had its turn, at most */
	bool        calm;     /* dispatches were short */
};

struct run_queue {
	struct fifo  ready;        /* owner: fibers to resume */
	uint32_t     dispatches;   /* owner: dispatches until the next upkeep */
	uint32_t     skips;        /* owner: upkeeps that may be left out
				    * before the next */
	bool         pinned_next;  /* owner: whose turn it is in a queue with
				    * pinned and other tasks */
	bool         aged;         /* owner: the oldest task comes next: from an
				    * upkeep to the dispatch after it */
	bool         oldest_first; /* fixed: the order of own tasks */
	bool         threaded;     /* fixed: MTW: it has a deque */
	bool         unfenced;     /* fixed: own pushes need no fence */
	bool         draining;     /* owner: takes no new tasks */
	bool         recorded;     /* owner: events are recorded */
	bool         pushes;       /* owner: own tasks go to the deque without a
				    * fence, and nobody records that; not while
				    * it drains */
	bool         pops;         /* owner: own tasks come from the deque,
				    * newest first */
	struct ring  pinned;       /* owner: tasks that stay */
	struct deque deque;        /* MTW only */
	struct aging aging;        /* owner */
};

/* The properties of a new run queue. */
struct run_queue_kind {
	bool threaded;     /* the worker is an MTW */
	bool oldest_first; /* the order of own tasks */
	bool asymmetric;   /* os_process_barrier() works */
	bool spread;       /* own tasks go to other workers */
};

/* Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_run_queue_init(struct run_queue            *q,
				      const struct run_queue_kind *kind,
				      const sennit_allocator      *memory);
void                sn_run_queue_free(struct run_queue *q);

/* Stop taking new tasks, or resume. */
void sn_run_queue_drain(struct run_queue *q, bool drains);

/* Events are recorded from now on, or no longer. */
void sn_run_queue_record(struct run_queue *q, bool recorded);

/* sn_run_queue_trim frees memory that longer queues needed.
 * sn_run_queue_is_large returns whether there may be any. */
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

/* f is ready to continue. */
static inline void sn_run_queue_ready(struct run_queue    *q,
				      struct sennit_fiber *f)
{
	sn_fifo_push(&q->ready, &f->link);
}

/* The same for a chain of fibers, oldest first. */
static inline void sn_run_queue_ready_all(struct run_queue *q,
					  struct node *first, struct node *last)
{
	sn_fifo_append(&q->ready, first, last);
}

/* Queue a task of the owner in the right queue. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_run_queue_keep(struct run_queue *q, struct task t);

/* Queue stolen tasks, oldest first, on an empty deque, which has room for
 * WORKER_LOOT of them. */
void sn_run_queue_keep_loot(struct run_queue *q, const struct task loot[],
			    uint32_t n);

/* --- state -------------------------------------------------------------- */

static inline bool sn_run_queue_has_ready(const struct run_queue *q)
{
	return q->ready.head;
}

static inline bool sn_run_queue_has_pinned(const struct run_queue *q)
{
	return !sn_ring_is_empty(&q->pinned);
}

/* Whether there are tasks that the owner may start. */
static inline bool sn_run_queue_has_task(const struct run_queue *q)
{
	return sn_run_queue_has_pinned(q) ||
	       sn_deque_has_tasks_owner(&q->deque);
}

/* Whether there is work that only the owner can do. */
static inline bool sn_run_queue_has_own(const struct run_queue *q)
{
	return sn_run_queue_has_ready(q) || sn_run_queue_has_pinned(q);
}

/* Whether the newest own task would run next: no fiber, pinned task or older
 * task comes before it. */
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

/* Whether own tasks may go to the deque without a fence: those of the other
 * workers with threads, too. */
static inline bool sn_run_queue_may_be_unfenced(const struct run_queue *q)
{
	return q->unfenced;
}

/* Whether own tasks go to the deque without a fence. */
static inline bool sn_run_queue_is_unfenced(const struct run_queue *q)
{
	return q->unfenced && !q->draining;
}

/* The same, and nobody records that: sn_place_own may be called. */
static inline bool sn_run_queue_pushes(const struct run_queue *q)
{
	return q->pushes;
}

/* Whether own tasks come from the deque, newest first. */
static inline bool sn_run_queue_pops(const struct run_queue *q)
{
	return q->pops;
}

/* --- turns -------------------------------------------------------------- */

/* Count a dispatch. Returns true if upkeep is due; afterwards it is a task's
 * turn. */
static inline bool sn_run_queue_tick(struct run_queue *q)
{
	return !--q->dispatches;
}

/* Whether upkeep is due at the next tick. sn_run_queue_due_in makes it due
 * after `ticks` ticks. */
static inline bool sn_run_queue_is_due(const struct run_queue *q)
{
	return q->dispatches == 1;
}

static inline void sn_run_queue_due_in(struct run_queue *q, uint32_t ticks)
{
	q->dispatches = ticks;
}

static inline void sn_run_queue_due_later(struct run_queue *q, uint32_t ticks)
{
	q->dispatches += ticks;
}

/* Returns the ticks that remain. */
static inline uint32_t sn_run_queue_due_within(struct run_queue *q,
					       uint32_t          ticks)
{
	if (q->dispatches > ticks)
		q->dispatches = ticks;
	return q->dispatches;
}

/* The worker was idle until `now`; 0: nobody has read the clock. What it runs
 * next may take long, so the first upkeep comes soon, unless something else
 * sees to that. */
static inline void sn_run_queue_rested(struct run_queue *q, sennit_time now,
				       bool soon)
{
	q->aging.looked = now;
	q->aging.since = 0;
	q->aging.blind = 0;
	q->aging.calm = false;
	if (soon) {
		if (q->aging.interval > AGING_FIRST)
			q->aging.interval = AGING_FIRST;
		if (q->aging.next > q->dispatches)
			q->aging.passed += q->aging.next - q->dispatches;
		q->aging.next = sn_run_queue_due_within(q, AGING_FIRST);
	}
}

/* For the macros of fork_join.h, which count dispatches themselves, down to 0,
 * which means the same as 1. */
static inline uint32_t *sn_run_queue_dispatches(struct run_queue *q)
{
	return &q->dispatches;
}

/* An upkeep begins. The next comes after WORKER_UPKEEP dispatches, or fewer if
 * these take long and nobody else sees to that (`measured`). Returns whether it
 * is a task's turn now. */
bool sn_run_queue_begin_upkeep(struct run_queue *q, bool measured);

/* Whether the oldest task comes next. */
static inline bool sn_run_queue_is_aged(const struct run_queue *q)
{
	return q->aged;
}

/* The oldest task has no turn this time. */
void sn_run_queue_forgo_turn(struct run_queue *q);

/* The worker's upkeep. `coarse` is a reading of the coarse clock. Returns
 * whether the clock need not be read: dispatches are short, and the coarse
 * clock agrees that nearly no time has passed. */
static inline bool sn_run_queue_is_blind(struct run_queue *q,
					 sennit_time       coarse)
{
	return q->aging.blind && --q->aging.blind && coarse <= q->aging.looked;
}

/* The same, with the clock read: have the next upkeep come in time, and the
 * oldest task if tasks have waited for AGED. */
void sn_run_queue_look(struct run_queue *q, sennit_time now);

/* Leave out the upkeep that is due. Returns false if too many were, or if
 * dispatches take long. The next one reads the clock. */
static inline bool sn_run_queue_skip(struct run_queue *q)
{
	if (!q->skips || !q->aging.calm) {
		q->skips = WORKER_SKIPS;
		return false;
	}
	q->skips--;
	q->aging.blind = 0;
	sn_run_queue_due_in(q, WORKER_UPKEEP);
	return true;
}

/* --- taking ------------------------------------------------------------- */

/* Each fiber lies on a page of its own. The record of the next fiber was
 * prefetched while the previous one ran. Now prefetch the frames with which it
 * resumes, and the record of the fiber after it. */
static inline void sn_run_queue_fetch_ahead(const struct node *next)
{
	const struct sennit_fiber *f = container_of(next, struct sennit_fiber,
						    link);
	/* An integer: it is null for a fiber that became ready before it was
	 * ever suspended. */
	const uintptr_t frames = (uintptr_t)f->suspended;

	__builtin_prefetch((const void *)frames);
	__builtin_prefetch((const void *)(frames + 64));
	__builtin_prefetch((const void *)(frames + 128));
	__builtin_prefetch((const void *)(frames + 192));
	/* The frame of run_loop, which ends the task. */
	__builtin_prefetch((const void *)((uintptr_t)f - 64));
	__builtin_prefetch(next->next);
}

/* Take the fiber that has been ready longest. NULL: none is ready. */
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

/* For queues with pinned tasks, or in which the newest is not first, or not
 * now. */
NOINLINE bool sn_run_queue_take_mixed(struct run_queue *q, struct task *t);

/* Take the next own task. */
static ALWAYS_INLINE bool sn_run_queue_take(struct run_queue *q, struct task *t)
{
	if (likely(q->pops && sn_ring_is_empty(&q->pinned)))
		return sn_deque_pop(&q->deque, t);
	return sn_run_queue_take_mixed(q, t);
}

#endif
