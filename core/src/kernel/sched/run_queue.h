/* SPDX-License-Identifier: Apache-2.0 */
/* run_queue.h - what a worker has to run, in which order, and when its upkeep
 * is due: see struct run_queue.
 */
#ifndef SN_RUN_QUEUE_H
#define SN_RUN_QUEUE_H

#include "sched/fiber.h"
#include "sched/state.h"

/* The initial capacity of a deque, and the maximum number of tasks that a thief
 * takes. An empty deque always has room for them. */
#define WORKER_DEQUE      TORTURED(2u, 256u)
#define WORKER_STEAL_MOST 32u

/* [W1] The fairness bound: after this many dispatches of fibers and tasks, the
 * worker checks inbox and timers, and one task starts even if fibers are ready.
 * 61 as in Go's scheduler: a prime, so that no pattern of the program stays in
 * step with it. */
#define WORKER_UPKEEP 61u

/* [W1] The fairness bound in time. Where own tasks have waited for so long, the
 * oldest has its turn. A look may find that half of this late, and an upkeep
 * comes within half of this, so no task stays the oldest for 1 ms; or, where
 * each dispatch takes as long as this, for two of them. A shorter time would
 * start work that fork-join should postpone: each such start holds the stacks
 * of a branch. */
#define MAX_TASK_AGE (500 * SENNIT_MICROSECOND)

/* A turn of the oldest tasks lasts until tasks have been scheduled since the
 * last of them began, for so many tasks, or for half of MAX_TASK_AGE. In it
 * they alternate with newer work: after a dispatch of that, old tasks start for
 * as long as it took, at least one. If it took MAX_TASK_AGE, the turn goes on;
 * if it took half of that, it may have scheduled. */
#define OVERDUE_TASKS 64u

/* The first upkeep, and that after an idle time, come after so many
 * dispatches. */
#define AGING_FIRST 4u

/* While dispatches are short, the clock is read at every fourth upkeep. */
#define AGING_CLOCK_SKIPS 4u

/* Of the upkeeps between calls in place (fork_join.h) in which nobody would get
 * a turn, at most this many in a row are left out. */
#define WORKER_SKIPS 7u

/* The properties of a new run queue. */
struct run_queue_kind {
	bool threaded;     /* the worker is a threaded worker */
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

/* Queue a task of the owner in the right queue. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_run_queue_keep(struct run_queue *q, struct task t);

/* Without workers: a task that comes from the thread's backlog will find room,
 * if the queue is empty then. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE static inline int sn_run_queue_reserve(struct run_queue *q)
{
	return sn_task_queue_reserve(&q->pinned, 1);
}

/* Queue stolen tasks, oldest first, on an empty deque, which has room for
 * WORKER_STEAL_MOST of them. */
void sn_run_queue_keep_stolen(struct run_queue *q, const struct task stolen[],
			      uint32_t n);

/* --- state -------------------------------------------------------------- */

static inline bool sn_run_queue_has_pinned(const struct run_queue *q)
{
	return !sn_task_queue_is_empty(&q->pinned);
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
	return q->ready.head || sn_run_queue_has_pinned(q);
}

/* Whether the newest own task would run next: no fiber, pinned task or older
 * task comes before it. */
static inline bool sn_run_queue_wants_newest(const struct run_queue *q)
{
	return !q->ready.head && q->pops && sn_task_queue_is_empty(&q->pinned);
}

/* Whether own tasks go to the deque without a fence. */
static inline bool sn_run_queue_is_unfenced(const struct run_queue *q)
{
	return q->unfenced && !q->draining;
}

/* --- turns -------------------------------------------------------------- */

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
	q->aging.to_clock = 0;
	q->aging.is_short = false;
	if (soon) {
		if (q->aging.interval > AGING_FIRST)
			q->aging.interval = AGING_FIRST;
		if (q->aging.next > q->dispatches)
			q->aging.passed += q->aging.next - q->dispatches;
		q->aging.next = sn_run_queue_due_within(q, AGING_FIRST);
	}
}

/* An upkeep begins. The next comes after WORKER_UPKEEP dispatches, or fewer if
 * these take long and nobody else sees to that (`measured`). Returns whether it
 * is a task's turn now. */
bool sn_run_queue_begin_upkeep(struct run_queue *q, bool measured);

/* The oldest task has no turn this time. */
void sn_run_queue_skip_turn(struct run_queue *q);

/* A task has ended whose turn it was. Returns whether it was an old one, and
 * the next old one may run at once. */
bool sn_run_queue_goes_on(struct run_queue *q);

/* None of the dispatches until the next upkeep counts for a task's turn but
 * those that are still to come. */
static inline void sn_run_queue_postpone_turn(struct run_queue *q)
{
	q->aging.passed = 0;
	q->aging.next = q->dispatches;
}

/* Whether the owner has exactly one task of its own queue, and the meta of that
 * one, without how it owns its argument, is `meta`. */
bool sn_run_queue_has_only(const struct run_queue *q, uintptr_t meta);

/* The worker's upkeep. `coarse` is a reading of the coarse clock. Returns
 * whether the clock need not be read: dispatches are short, and the coarse
 * clock agrees that nearly no time has passed. */
static inline bool sn_run_queue_skips_clock(struct run_queue *q,
					    sennit_time       coarse)
{
	return q->aging.to_clock && --q->aging.to_clock &&
	       coarse <= q->aging.looked;
}

/* The same, with the clock read: have the next upkeep come in time, and the
 * oldest task if tasks have waited for MAX_TASK_AGE. */
void sn_run_queue_check_age(struct run_queue *q, sennit_time now);

/* Leave out the upkeep that is due. Returns false if too many were, or if
 * dispatches take long. The next one reads the clock. */
static inline bool sn_run_queue_skip(struct run_queue *q)
{
	if (!q->skips || !q->aging.is_short) {
		q->skips = WORKER_SKIPS;
		return false;
	}
	q->skips--;
	q->aging.to_clock = 0;
	q->dispatches = WORKER_UPKEEP;
	return true;
}

/* --- taking ------------------------------------------------------------- */

/* f can continue, after those that are ready. */
static inline void sn_run_queue_make_ready(struct run_queue    *q,
					   struct sennit_fiber *f)
{
	if (q->ready.head)
		sn_jumps_pass(&q->jumps, f);
	sn_fifo_push(&q->ready, &f->link);
}

/* The record of the next fiber was fetched by those before, if their jumps lead
 * here, or while the previous one ran. Now fetch the frames with which it
 * resumes, and one further ahead. A jump is followed once, as the next time the
 * fiber may be ready among others. */
static inline void sn_run_queue_fetch_ahead(struct node *next)
{
	struct sennit_fiber *f = container_of(next, struct sennit_fiber, link);
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
	sn_jumps_follow(f);
	a_store_rlx(&f->state.jump, 0);
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
	if (likely(q->pops && sn_task_queue_is_empty(&q->pinned)))
		return sn_deque_pop(&q->deque, t);
	return sn_run_queue_take_mixed(q, t);
}

/* --- worker --------------------------------------------------------------- */

/* For thieves, and for pushes onto the caller's own deque. */
static inline struct deque *sn_worker_deque(const struct worker *w)
{
	return sn_run_queue_deque(&w->run);
}

/* Whether the loop would run w's newest own task next: no fiber, pinned task or
 * older task comes before it. May miss fibers that are arriving. */
static inline bool sn_worker_wants_newest(const struct worker *w)
{
	return sn_run_queue_wants_newest(&w->run) &&
	       sn_inbox_is_empty(&w->mail.fibers);
}

#endif
