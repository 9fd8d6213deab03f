/* SPDX-License-Identifier: Apache-2.0 */
/* run_task.h - a worker runs a task, on the stack that runs.
 *
 *	borrowed argument   called, nothing else
 *	copied argument     freed afterwards
 *	member of a group   counted off afterwards
 *	of a domain         counted off; and those of it that are next
 */
#ifndef SN_RUN_TASK_H
#define SN_RUN_TASK_H

#include "worker/task_cleanup.h"
#include "worker/worker.h"

/* After a task, still in its scope: what ends with it does. Between tasks the
 * floating-point control is the worker's; the stack was started with it, and
 * what a task changed ends here [W8]. */
static ALWAYS_INLINE void sn_run_task_after(struct worker *w)
{
	if (unlikely(w->home.current->cleanup))
		sn_task_cleanup_run(w->home.current);
	if (likely(!w->home.fp_shared))
		arch_fp_set_control(w->home.fp_control);
	sn_counters_count_task(&w->counters);
}

/* A task that is more than a function and a borrowed argument. Returns w. */
NOINLINE struct worker *sn_run_task_packed(struct worker     *w,
					   const struct task *t);

/* Run a task; returns w. By pointer, and field by field: a copy of the whole
 * would be loaded wider than it was stored, which stalls. And w is read anew
 * from the thread: what a register held across a switch comes from the resumed
 * stack, and all that follows would have to wait for that; the thread-local is
 * at an address known beforehand. */
static ALWAYS_INLINE struct worker *sn_run_task(struct worker     *w,
						const struct task *t)
{
	sn_fiber_state_set_task(&w->home.current->state, t->run);
	if (unlikely(t->meta != TASK_BORROWED))
		return sn_run_task_packed(w, t);
	t->run(t->argument);
	w = sn_self;
	sn_run_task_after(w);
	return w;
}

#endif
