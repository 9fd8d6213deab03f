/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - decides where a new task goes ([P1]-[P7] in
 * core/docs/design/scheduling.md).
 *
 *	same thread, or no workers   the caller's own worker, as a pinned task
 *	from a worker of s           its own deque; the older half of the deque
 *	                             is published if workers search or sleep
 *	from elsewhere, or SPREAD    the inbox of the next worker in turn; a
 *	                             searching worker may take a share of it
 */
#ifndef SN_PLACE_H
#define SN_PLACE_H

#include "life/end.h"
#include "sched/run_queue.h"

/* --- place ---------------------------------------------------------------- */

/* The caller's worker if it belongs to s, else NULL. The caller may use that
 * worker's queues and cache. */
static inline struct worker *sn_place_own_worker(const sennit_scheduler *s)
{
	struct worker *w = sn_self;

	return w && w->scheduler == s ? w : NULL;
}

/* Queue t on s. `call` names the public call in messages. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_place(sennit_scheduler *s, struct task t, uint32_t flags,
			     const char *call);

/* Queue t with the worker of s that has this index, which alone runs it;
 * without workers, 0 is the calling bound thread's. Returns 0, -ENOENT if there
 * is no such worker, -ESHUTDOWN, -ENOMEM, or -EAGAIN if it has no thread and
 * none can be started. */
SENNIT_MUST_USE int sn_place_on(sennit_scheduler *s, uint32_t index,
				struct task t, const char *call);

/* How a task with these flags travels. w is the caller's own worker of s, or
 * NULL. Aborts if no thread could run the task. */
enum way {
	WAY_PINNED,      /* onto w's queue of pinned tasks */
	WAY_OWN_BACKLOG, /* into w's own backlog */
	WAY_DEQUE,       /* onto w's deque; the caller then calls
			  * sn_place_pushed() */
	WAY_SENT         /* into an inbox or the scheduler's backlog */
};
enum way sn_place_way(sennit_scheduler *s, struct worker *w, uint32_t flags,
		      const char *call);

/* Tasks were pushed onto w's deque: offer them to idle workers. */
void sn_place_pushed(struct worker *w);

/* Beside the flags of a task: the caller keeps a reference to s until the call
 * returns. Without it, a caller from outside takes one for that time. */
#define PLACE_KEPT UINT32_C(0x80000000)

/* Take or give back a block of s's pool, from the cache of the caller's worker
 * if it has one of s. NULL: out of memory. */
SENNIT_MUST_USE void *sn_place_take_block(sennit_scheduler *s);
void                  sn_place_give_block(sennit_scheduler *s, void *block);

/* Allocate what is needed to place one task on s later. s must have workers.
 * NULL: out of memory.
 */
SENNIT_MUST_USE struct queued_task *sn_place_reserve(sennit_scheduler *s);

/* Queue t on s with the reserved memory. This cannot fail. The caller must hold
 * a reference to s. */
void sn_place_reserved(sennit_scheduler *s, struct queued_task *p,
		       struct task t);

/* Serve a thief that asked for tasks, or wake a sleeping worker. Returns 0, so
 * that who has nothing else to do ends with a jump to it, without a stack
 * frame. */
COLD int sn_place_help(struct worker *w);

/* Whether sn_place_help is due, after a push without a fence. */
static inline bool sn_place_is_help_due(const struct worker *w)
{
	a_compiler_fence(); /* <-> deque.unfenced: push, then look */
	return sn_deque_is_asked(sn_worker_deque(w)) ||
	       sn_parking_has_sleepers(w->parking);
}

/* Push t onto w's own deque, the path of most tasks. w->run.pushes must
 * be true, and the deque must have room, so that this cannot fail. Returns
 * 0. */
static inline int sn_place_own(struct worker *w, struct task t)
{
	sn_task_count_add(w->scheduler, t.meta, 1);
	sn_deque_push_room(sn_worker_deque(w), t);
	return unlikely(sn_place_is_help_due(w)) ? sn_place_help(w) : 0;
}

/* --- background ----------------------------------------------------------- */

/* Who runs background tasks, and when.
 *
 *	with workers     the scheduler's backlog; a worker that finds no other
 *	                 task, own or to steal, takes the oldest
 *	without workers  each bound thread's own backlog, when the thread waits
 *	                 or unbinds and has no other task
 *	nobody idle      the first worker whose upkeep finds a task that is due
 *
 * A task that is taken belongs to its worker as if the worker had just
 * scheduled it: it runs next, or a thief takes it. From then on it is an
 * ordinary task.
 */

/* Add t to the backlog of s, which must have workers, and wake one of them. The
 * caller must be active or hold a reference. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_background_enqueue(sennit_scheduler *s, struct task t);

/* The same for all tasks that fill(filler, queue) adds. */
SENNIT_MUST_USE int sn_background_enqueue_many(sennit_scheduler *s,
					       backlog_filler   *fill,
					       void             *filler);

/* Take the oldest background task that w may run, as a task of its own. Returns
 * false if there is none. */
bool sn_background_take(struct worker *w, sennit_time now);

COLD void sn_background_catch_up(struct worker *w, sennit_time now);

/* Part of the upkeep: takes a background task that is due, whatever else w has
 * to do. */
static inline void sn_background_attend(struct worker *w, sennit_time now)
{
	if (sn_backlog_is_due(w->backlog, now) && !w->run.draining)
		sn_background_catch_up(w, now);
}

/* --- inboxes -------------------------------------------------------------- */

/* Push the node of a queued task to the inbox of the next worker in turn, and
 * wake a worker that may run it. While all workers sleep and no fiber waits on
 * that worker, it has the next turn as well. */
void sn_place_enqueue(sennit_scheduler *s, struct node *n);

/* The same as sn_place_enqueue for a chain of `count` nodes, linked from
 * its newest to its oldest. The next `ways` workers in turn get a contiguous
 * run each; 1 <= ways <= count. */
void sn_place_enqueue_chain(sennit_scheduler *s, struct node *newest,
			    struct node *oldest, uint32_t count, uint32_t ways);

/* Push a chain, linked from its newest node to its oldest, to the inbox of `to`
 * or, if that has closed, of another worker. The caller must then wake a
 * worker. */
void sn_place_push_to_inbox(struct worker *to, struct node *newest,
			    struct node *oldest);

/* Move the tasks in the inbox of w, which is closed, to the inboxes of other
 * workers. The caller must then wake a worker, or search itself. */
void sn_place_drain_inbox(struct worker *w);

/* The same for all tasks of w, the caller's worker, and wake a worker. If there
 * is no memory for a queued task, the task stays and runs here. */
void sn_place_drain_worker(struct worker *w);

#endif
