/* SPDX-License-Identifier: Apache-2.0 */
/* call_here.h - runs a task as a plain call, on the stack of a fiber that waits
 * for that very task: docs/design/groups.md says why that adds no deadlock.
 *
 * The task sees its own cancel scope, lock identity, local values and name, and
 * the fiber gets back its own afterwards, with errno.
 */
#ifndef SN_CALL_HERE_H
#define SN_CALL_HERE_H

#include "arch/barrier.h"
#include "worker/observe.h"
#include "worker/task_cleanup.h"
#include "worker/upkeep.h"

/* Whether w's newest task may run on the caller's stack: nothing else must run
 * first, and the stack has enough room. Counts a dispatch before the caller
 * takes the task, because the upkeep may add newer tasks. */
static ALWAYS_INLINE bool sn_call_here_may(struct worker *w)
{
	return sn_worker_wants_newest(w) &&
	       (char *)__builtin_frame_address(0) >= w->home.current->shallow &&
	       sn_upkeep_tick(w);
}

/* What the task's function returns; 0 for a function that returns nothing. */
static ALWAYS_INLINE int sn_call_here_run(const struct task *t, bool is_member)
{
	if (is_member)
		return sn_task_member_fn(t->run)(t->argument);
	t->run(t->argument);
	return 0;
}

/* The task's own local values and name end with it. */
static ALWAYS_INLINE int sn_call_here_fresh(struct sennit_fiber *f,
					    const struct task   *t,
					    bool                 is_member)
{
	int error = sn_call_here_run(t, is_member);

	if (unlikely(f->cleanup & ~(CLEANUP_FP_SHARED | CLEANUP_OBSERVED)))
		sn_task_cleanup_run(f);
	return error;
}

/* The same when the waiter has local values or a name, which the task must not
 * see, or is observed. */
int sn_call_here_aside(struct sennit_fiber *f, const struct task *t);

/* Call the task, which is a member of a group or tied to a wait group, in the
 * scope, as the lock owner `identity`. Counts it as run. */
static ALWAYS_INLINE int sn_call_here(struct worker *w, const struct task *t,
				      struct sennit_cancel_scope *inside,
				      void *identity, bool is_member)
{
	struct sennit_fiber        *f = w->home.current;
	struct sennit_cancel_scope *scope = sn_fiber_scope(f);
	void                       *former = sn_fiber_identity(f);
	sennit_task_fn             *shown = sn_fiber_state_get_task(&f->state);
	int                         saved = *w->error;
	int                         error;

	sn_fiber_set_scope(f, inside);
	sn_fiber_set_identity(f, identity);
	sn_fiber_state_set_task(&f->state, t->run);
	error = likely(!sn_task_cleanup_is_needed(f))
			? sn_call_here_fresh(f, t, is_member)
			: sn_call_here_aside(f, t);
	sn_fiber_state_set_task(&f->state, shown);
	sn_fiber_set_identity(f, former);
	sn_fiber_set_scope(f, scope);
	*w->error = saved;
	return error;
}

#endif
