/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - the end of a scheduler.
 *
 *	last one out of the gate --sweep--> work found: roll back
 *	                                 \-> nothing:   DONE, wake every worker
 *	the worker threads exit one by one and are joined
 *	the last one inside leaves the rest to a waiting client, or does it:
 *	free the scheduler, call the notices, release the other clients
 *
 * `inside` counts the threads that may still access the scheduler: its workers,
 * the blocking threads, each sweeper from outside, and one more until DONE.
 */
#ifndef SN_END_H
#define SN_END_H

#include "sched/state.h"

/* The caller was told by the gate to end the scheduler: check for work, and end
 * it if there is none. *s may be gone on return, unless the caller counts as
 * inside. */
void sn_end_now(sennit_scheduler *s);

/* A worker's thread, which has left the gate, leaves the scheduler for good; or
 * a blocking thread does. At any time. */
void sn_end_thread_gone(sennit_scheduler *s);

/* The same for a thread that is in the gate: it leaves the gate first. */
void sn_end_thread_leaves_gate(sennit_scheduler *s);

/* Release a reference. *s may be gone on return. */
void sn_end_release(sennit_scheduler *s);

/* Release a reference and wait for the end. Returns false if the deadline
 * passed; the caller then has its reference back. */
bool sn_end_wait(sennit_scheduler *s, sennit_time deadline);

/* End a scheduler that has run no task: its threads exit and are joined, and it
 * is freed. `started` is the number of workers with threads. */
void sn_end_abandon(sennit_scheduler *s, uint32_t started);

/* Free the memory of *s itself, unless a weak handle keeps it; then set the
 * event that waits for this. */
void sn_end_free(sennit_scheduler *s);

/* Drop a weak handle, or the scheduler's own weak reference. The last one frees
 * the block of *s. */
void sn_end_drop(sennit_scheduler *s);

/* --- end check ------------------------------------------------------------ */

/* Whether a worker is active, that is, not asleep for want of work. A hint. */
bool sn_end_check_sees_active(sennit_scheduler *s);

/* --- inside --------------------------------------------------------------- */

static inline void sn_inside_init(struct end_state *f, uint32_t threads)
{
	a_init(&f->inside, threads + 1);
	pthread_mutex_init(&f->lock, NULL);
}

/* Count one more thread. The caller is itself inside, holds a reference, or
 * runs a fiber of the scheduler, so the scheduler cannot end meanwhile. */
static inline void sn_inside_enter(struct end_state *f)
{
	a_add_rlx(&f->inside, 1);
}

/* Count one less. Returns true if it was the last one. A caller that only
 * undoes its own sn_inside_enter never is. */
static inline bool sn_inside_leave(struct end_state *f)
{
	/* -> finalise.inside: all that this thread did <- finalise.inside: what
	 * all others did */
	return a_sub_acqrel(&f->inside, 1) == 1;
}

/* --- task count ----------------------------------------------------------- */

/* Counts a scheduler's tasks, in builds with SENNIT_END=count alone: its gate
 * then counts them. The other gate need not know.
 *
 * Not counted are tasks that somebody else waits for: members of groups and
 * forks, whose opener or spawner is itself a task that is counted or a thread
 * with a reference; and tasks of a domain, which has a count of its own and a
 * reference to the scheduler until it has ended. A task tied to a wait group is
 * counted: nobody needs to wait for it.
 */

#ifdef SENNIT_END_COUNT

static inline bool sn_task_count_has(uintptr_t meta)
{
	return (meta <= TASK_COPY && meta != TASK_INSIDE) ||
	       sn_task_is_tied(meta);
}

/* n tasks with this meta are about to be queued on s. Called before they can be
 * found, by a caller that keeps s alive. */
static inline void sn_task_count_add(sennit_scheduler *s, uintptr_t meta,
				     uint32_t n)
{
	if (sn_task_count_has(meta))
		sn_gate_add_tasks(&s->gate, n);
}

/* They could not be queued. */
static inline void sn_task_count_drop(sennit_scheduler *s, uintptr_t meta,
				      uint32_t n)
{
	if (sn_task_count_has(meta))
		sn_gate_drop_tasks(&s->gate, n);
}

/* A task with this meta that ran on w has ended, and so has all that belongs to
 * it. w counts as inside or holds a reference, so it outlives the end. */
static inline void sn_task_count_end(struct worker *w, uintptr_t meta)
{
	if (sn_task_count_has(meta) &&
	    unlikely(sn_gate_end_task(&w->scheduler->gate)))
		sn_end_now(w->scheduler);
}

/* The meta of a task that its spawner joins, in a scope or NULL. It differs
 * from that of a task that is counted. */
static inline uintptr_t sn_task_count_joined(
	const struct sennit_cancel_scope *scope)
{
	return sn_task_inside(scope);
}

#else

/* n tasks with this meta are about to be queued on s. Called before they can be
 * found, by a caller that keeps s alive. */
static inline void sn_task_count_add(sennit_scheduler *s, uintptr_t meta,
				     uint32_t n)
{
	(void)s;
	(void)meta;
	(void)n;
}

/* They could not be queued. */
static inline void sn_task_count_drop(sennit_scheduler *s, uintptr_t meta,
				      uint32_t n)
{
	(void)s;
	(void)meta;
	(void)n;
}

/* A task with this meta that ran on w has ended, and so has all that belongs to
 * it. */
static inline void sn_task_count_end(struct worker *w, uintptr_t meta)
{
	(void)w;
	(void)meta;
}

/* The meta of a task that its spawner joins, in a scope or NULL. */
static inline uintptr_t sn_task_count_joined(
	const struct sennit_cancel_scope *scope)
{
#ifdef SENNIT_SPAWN_SITES
	return sn_task_inside(scope); /* says that it has no site */
#else
	return scope ? sn_task_inside(scope) : TASK_BORROWED;
#endif
}

#endif

#endif
