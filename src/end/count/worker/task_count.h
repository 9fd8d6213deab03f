/* SPDX-License-Identifier: Apache-2.0 */
/* task_count.h - counts a scheduler's tasks in its gate, for builds with
 * SENNIT_END=count.
 *
 * Not counted are tasks that somebody else waits for: members of groups and
 * forks, whose opener or spawner is itself a task that is counted or a thread
 * with a reference; and tasks of a domain, which has a count of its own and a
 * reference to the scheduler until it has ended. A task tied to a wait group is
 * counted: nobody needs to wait for it.
 */
#ifndef SN_TASK_COUNT_H
#define SN_TASK_COUNT_H

#include "core/task.h"
#include "worker/finalise.h"
#include "worker/worker.h"

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
		sn_finalise_end(w->scheduler);
}

/* The meta of a task that its spawner joins, in a scope or NULL. It differs
 * from that of a task that is counted. */
static inline uintptr_t sn_task_count_joined(
	const struct sennit_cancel_scope *scope)
{
	return sn_task_inside(scope);
}

#endif
