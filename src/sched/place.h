/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - decides where a new task goes ([P1]-[P7] in
 * docs/design/scheduling.md).
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

struct sennit_domain;

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

/* The same in domain d, which may be NULL. */
SENNIT_MUST_USE int sn_place_in(sennit_scheduler *s, struct sennit_domain *d,
				struct task t, uint32_t flags,
				const char *call);

/* Queue the program's task on s, in domain d, which may be NULL. Returns 0,
 * -EINVAL or -ENOMEM. */
SENNIT_MUST_USE int sn_place_packed(sennit_scheduler     *s,
				    struct sennit_domain *d,
				    const sennit_task *user, const char *call);

/* Whether these are valid task flags that may be combined. */
static inline bool sn_place_are_flags(uint32_t flags)
{
	const uint32_t all = SENNIT_TASK_SAME_THREAD | SENNIT_TASK_BACKGROUND;

	return !(flags & ~all) && flags != all;
}

/* Queue t with the worker of s that has this index, which alone runs it;
 * without workers, 0 is the calling bound thread's. Returns 0, -ENOENT if there
 * is no such worker, -ESHUTDOWN, -ENOMEM, or -EAGAIN if it has no thread and
 * none can be started. */
SENNIT_MUST_USE int sn_place_on(sennit_scheduler *s, uint32_t index,
				struct task t, const char *call);

/* How a task with these flags travels. w is the caller's own worker of s, or
 * NULL. Aborts if no thread could run the task. */
enum way {
	WAY_PINNED,      /* onto w's ring of pinned tasks */
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

/* Make *t from the program's task, and copy its argument if copy_size is set.
 * Returns 0, -EINVAL or -ENOMEM. */
SENNIT_MUST_USE int sn_place_pack(sennit_scheduler *s, const sennit_task *user,
				  struct task *t);

/* The same with blocks from *c, or from the depot if c is NULL. */
SENNIT_MUST_USE int sn_place_pack_from(sennit_scheduler  *s,
				       struct pool_cache *c,
				       const sennit_task *user, struct task *t);

/* Free the copy that sn_place_pack made. */
void sn_place_unpack(sennit_scheduler *s, struct task t);

/* Allocate `size` bytes for an argument. NULL: out of memory. */
SENNIT_MUST_USE void *sn_place_take(sennit_scheduler *s, size_t size);
void sn_place_give(sennit_scheduler *s, void *argument, size_t size);

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

/* --- batch ---------------------------------------------------------------- */

/* Places many tasks in one step.
 *
 * All tasks go where the first one would go alone (place.h). They appear there
 * at once: by one store of the deque's bottom, one push into an inbox, or one
 * critical section of the backlog. Then the caller looks once for a sleeper. A
 * woken worker wakes the next one if there is more work.
 *
 *	own deque      packed into free slots, which no thief sees yet
 *	ring, backlog  packed into the ring, removed again on failure
 *	an inbox       packed into a chain of queued tasks
 *
 * All steps that can fail come before the step that makes the tasks visible. So
 * a batch is placed as a whole or not at all.
 */

/* Queue the tasks on s, in order, in `domain`, which may be NULL. `call` names
 * the public call in messages. Returns 0. On -EINVAL or -ENOMEM no task was
 * queued. */
SENNIT_MUST_USE int sn_batch_place(sennit_scheduler     *s,
				   struct sennit_domain *domain,
				   const sennit_task *tasks, size_t count,
				   const char *call);

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
SENNIT_MUST_USE int sn_background_send(sennit_scheduler *s, struct task t);

/* The same for all tasks that fill(filler, ring) adds. */
SENNIT_MUST_USE int sn_background_send_many(sennit_scheduler *s,
					    backlog_filler *fill, void *filler);

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

/* --- sending -------------------------------------------------------------- */

/* Put the node of a queued task into the inbox of the next worker in turn, and
 * wake a worker that may run it. While all workers sleep and no fiber waits on
 * that worker, it has the next turn as well. */
void sn_place_send(sennit_scheduler *s, struct node *n);

/* The same as sn_place_send for a chain of `count` nodes, linked from
 * its newest to its oldest. The next `ways` workers in turn get a contiguous
 * run each; 1 <= ways <= count. */
void sn_place_send_many(sennit_scheduler *s, struct node *newest,
			struct node *oldest, uint32_t count, uint32_t ways);

/* Leave a chain, linked from its newest node to its oldest, in the inbox of
 * `to` or, if that has closed, of another worker. The caller must then wake a
 * worker. */
void sn_place_leave_with(struct worker *to, struct node *newest,
			 struct node *oldest);

/* Pass on the tasks in the inbox of w, which is closed. The caller must then
 * wake a worker, or search itself. */
void sn_place_forward(struct worker *w);

/* Pass on all tasks of w, the caller's worker, which is closed. If there is no
 * memory for a queued task, the task stays and runs here. */
void sn_place_pass_on(struct worker *w);

#endif
