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

/* Queue stolen tasks, oldest first, on an empty deque, which has room for
 * WORKER_STEAL_MOST of them. */
void sn_run_queue_keep_stolen(struct run_queue *q, const struct task stolen[],
			      uint32_t n);

/* --- state -------------------------------------------------------------- */

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
	return q->ready.head || sn_run_queue_has_pinned(q);
}

/* Whether the newest own task would run next: no fiber, pinned task or older
 * task comes before it. */
static inline bool sn_run_queue_wants_newest(const struct run_queue *q)
{
	return !q->ready.head && q->pops && sn_ring_is_empty(&q->pinned);
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

/* An upkeep begins. The next comes after WORKER_UPKEEP dispatches, or fewer if
 * these take long and nobody else sees to that (`measured`). Returns whether it
 * is a task's turn now. */
bool sn_run_queue_begin_upkeep(struct run_queue *q, bool measured);

/* The oldest task has no turn this time. */
void sn_run_queue_forgo_turn(struct run_queue *q);

/* Whether the owner has exactly one task of its own queue, and the meta of that
 * one, without how it owns its argument, is `meta`. */
bool sn_run_queue_has_only(const struct run_queue *q, uintptr_t meta);

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
void sn_run_queue_check_age(struct run_queue *q, sennit_time now);

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
	if (likely(q->pops && sn_ring_is_empty(&q->pinned)))
		return sn_deque_pop(&q->deque, t);
	return sn_run_queue_take_mixed(q, t);
}

/* --- mailbox -------------------------------------------------------------- */

/* Whether there are fibers besides n, which may be there. Nobody may take or
 * leave any meanwhile. */
static inline bool sn_mailbox_has_fibers_besides(struct mailbox    *m,
						 const struct node *n)
{
	return !sn_inbox_is_empty(&m->fibers) &&
	       !sn_inbox_is_only(&m->fibers, n);
}

/* Whether the owner will look into the tasks first. May be stale: see
 * sn_balance_piles_up. */
static inline bool sn_mailbox_is_awaited(const struct mailbox *m)
{
	return a_load_rlx(&m->idle);
}

/* Owner only: whether it has nothing to do. parking's counts make it
 * visible. */
static inline void sn_mailbox_set_awaited(struct mailbox *m, bool awaited)
{
	a_store_rlx(&m->idle, awaited);
}

/* The caller will access the worker after it has left fibers. */
static inline void sn_mailbox_hold(struct mailbox *m)
{
	a_add_rlx(&m->callers, 1); /* inbox.push makes it visible */
}

static inline void sn_mailbox_let_go(struct mailbox *m)
{
	a_sub_rel(&m->callers, 1); /* -> wait.callers: no more accesses */
}

/* Owner only: whether another thread may still access the worker. */
static inline bool sn_mailbox_is_held(const struct mailbox *m)
{
	return a_load_acq(&m->callers); /* <- wait.callers */
}

/* Take all tasks as they were left, newest first; *oldest becomes the last one.
 * NULL: there are none. Any thread. */
static inline struct node *sn_mailbox_take_tasks(struct mailbox *m,
						 struct node   **oldest)
{
	struct node *newest = sn_inbox_take_raw(&m->tasks);

	if (newest)
		for (*oldest = newest; (*oldest)->next;
		     *oldest = (*oldest)->next)
			;
	return newest;
}

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

/* --- stack cache ---------------------------------------------------------- */

static inline void sn_stack_cache_put(struct stack_cache  *c,
				      struct sennit_fiber *f)
{
	f->link.next = c->idle;
	c->idle = &f->link;
}

/* Take the last used stack. NULL: there is none. */
static inline struct sennit_fiber *sn_stack_cache_take(struct stack_cache *c)
{
	struct node *n = c->idle;

	if (!n)
		return NULL;
	c->idle = n->next;
	if (n->next)
		__builtin_prefetch(n->next, 1);
	return container_of(n, struct sennit_fiber, link);
}

/* Take up to `most` of the stacks after the `keep` last used ones. Returns
 * their number. */
static inline uint32_t sn_stack_cache_take_old(struct stack_cache  *c,
					       uint32_t             keep,
					       struct sennit_fiber *out[],
					       uint32_t             most)
{
	struct node **at = &c->idle;
	uint32_t      n = 0;

	for (; *at && keep; keep--)
		at = &(*at)->next;
	for (; *at && n < most; *at = (*at)->next)
		out[n++] = container_of(*at, struct sennit_fiber, link);
	return n;
}

/* Take that stack, once. NULL: it was taken. */
static inline void *sn_stack_cache_take_first(struct stack_cache *c)
{
	void *bottom = c->first;

	c->first = NULL;
	return bottom;
}

/* --- own parking ---------------------------------------------------------- */

static inline void sn_own_parking_init(struct own_parking *p)
{
	p->only[0] = &p->sleeper;
	sn_parking_init(&p->parking, p->only, 1);
	sn_sleeper_init(&p->sleeper, &p->parking, 0);
}

/* The owner is awake again. */
static inline void sn_own_parking_withdraw(struct own_parking *p)
{
	sn_parking_withdraw(&p->sleeper);
	sn_parking_found(&p->parking);
}

/* Whether the owner may be asleep here. The owner counts itself before it
 * announces. So false after the caller's fence means that the owner will look
 * at its mailbox afterwards. */
static inline bool sn_own_parking_is_used(struct own_parking *p)
{
	return a_load_rlx(&p->parking.counts);
}

/* --- errands -------------------------------------------------------------- */

/* Put the note among the fibers, unless it is there. Returns whether it was
 * not. */
static inline bool sn_errands_tell(struct errands *e, struct mailbox *mail)
{
	/* -> errands.told: the errand <- errands.told: the note is free */
	if (a_swap_acqrel(&e->told, 1))
		return false;
	sn_inbox_push(&mail->fibers, &e->note, &e->note);
	return true;
}

/* Leave the node of a queued task. The worker is then woken, as for a fiber. */
static inline void sn_errands_leave(struct errands *e, struct mailbox *mail,
				    struct node *n)
{
	sn_inbox_push(&e->tasks, n, n);
	sn_errands_tell(e, mail);
}

/* Leave the `hurry` node of a fiber. Returns whether the worker is to be
 * woken. */
static inline bool sn_errands_hurry(struct errands *e, struct mailbox *mail,
				    struct node *n)
{
	sn_inbox_push(&e->hurried, n, n);
	return sn_errands_tell(e, mail);
}

/* Owner only: what sn_errands_hurry has left, oldest first. */
static inline struct node *sn_errands_take_hurried(struct errands *e,
						   struct node   **last)
{
	return sn_inbox_take(&e->hurried, last);
}

/* Whether the note may be among fibers that the owner has just taken. A stale
 * value is harmless: whoever sets it puts the note there afterwards. */
static inline bool sn_errands_are_notified(const struct errands *e)
{
	return a_load_rlx(&e->told);
}

/* Owner only: take the note out of the fibers *first..*last, where it may be,
 * and the tasks, oldest first; NULL: there are none. */
static inline struct node *sn_errands_take(struct errands *e,
					   struct node   **first,
					   struct node   **last)
{
	struct node *newest;

	if (!sn_chain_remove(first, last, &e->note))
		return NULL;
	/* -> errands.told: the note is free <- errands.told: the tasks */
	(void)a_swap_acqrel(&e->told, 0);
	return sn_inbox_take(&e->tasks, &newest);
}

/* --- upkeep --------------------------------------------------------------- */

/* The work that a worker does every WORKER_UPKEEP dispatches, more often if
 * they take long, however busy it is: inboxes, timers, its CPU slot, the check
 * whether it drains, memory, background tasks, the turn of its oldest task.
 *
 * So none of these starves. A dispatch is the start of a task or the resumption
 * of a fiber. Code that runs a task without the loop counts the dispatch here.
 */

/* Do what is due, and reset the count. Returns whether it is a task's turn. */
NOINLINE bool sn_upkeep(struct worker *w);

/* Record the number of fibers of w that wait. Called when they may be many. */
void sn_upkeep_note_peak(struct worker *w);

/* Count a dispatch. Returns true if it is a task's turn. */
static ALWAYS_INLINE bool sn_upkeep_is_turn(struct worker *w)
{
	if (likely(--w->run.dispatches))
		return false;
	return sn_upkeep(w);
}

/* sn_upkeep_tick() when the upkeep is due. */
bool sn_upkeep_tick_due(struct worker *w);

/* The upkeep is due. Leave it out if nobody would get a turn by it: then only
 * what is not urgent is late, by WORKER_SKIPS upkeeps. Returns whether it was
 * left out. */
bool sn_upkeep_skip(struct worker *w);

/* A fiber is about to run a task itself: count a dispatch, and do the upkeep
 * that is due. Returns false if the loop must run next, on another stack. */
static inline bool sn_upkeep_tick(struct worker *w)
{
	if (unlikely(w->run.dispatches == 1))
		return sn_upkeep_tick_due(w);
	--w->run.dispatches;
	return true;
}

/* The same. If it returns false, the loop's next turn does the upkeep, and
 * counts that dispatch itself. */
static ALWAYS_INLINE bool sn_upkeep_tick_for_loop(struct worker *w)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	w->run.dispatches = 1;
	return false;
}

#endif
