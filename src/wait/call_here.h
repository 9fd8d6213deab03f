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

/* The called task's own local values and name end with it. */
static ALWAYS_INLINE void sn_call_here_clean(struct sennit_fiber *f)
{
	if (unlikely(f->cleanup & ~(CLEANUP_FP_SHARED | CLEANUP_OBSERVED)))
		sn_task_cleanup_run(f);
}

/* Call a task on f, which has no local values and no name. A member of a group
 * returns an error. */
static ALWAYS_INLINE int sn_call_here_member(struct sennit_fiber *f,
					     const struct task   *t)
{
	int error = sn_task_member_fn(t->run)(t->argument);

	sn_call_here_clean(f);
	return error;
}

static ALWAYS_INLINE void sn_call_here_tied(struct sennit_fiber *f,
					    const struct task   *t)
{
	t->run(t->argument);
	sn_call_here_clean(f);
}

/* Call either kind when f has local values or a name, which the task must not
 * see, or is observed. */
NOINLINE int sn_call_here_aside(struct sennit_fiber *f, const struct task *t);

/* What the waiter gets back. */
struct call_here {
	struct sennit_cancel_scope *scope;
	void                       *identity;
	sennit_task_fn             *shown;
	int                         error; /* errno */
};

/* The task runs next on w's running fiber, in the scope, as the owner
 * `identity` of locks. */
static ALWAYS_INLINE void sn_call_here_begin(struct call_here           *c,
					     struct worker              *w,
					     const struct task          *t,
					     struct sennit_cancel_scope *scope,
					     void *identity)
{
	struct sennit_fiber *f = w->home.current;

	c->scope = sn_fiber_scope(f);
	c->identity = sn_fiber_identity(f);
	c->shown = sn_fiber_state_get_task(&f->state);
	c->error = *w->error;
	sn_fiber_set_scope(f, scope);
	sn_fiber_set_identity(f, identity);
	sn_fiber_state_set_task(&f->state, t->run);
}

static ALWAYS_INLINE void sn_call_here_end(const struct call_here *c,
					   struct worker          *w)
{
	struct sennit_fiber *f = w->home.current;

	sn_fiber_state_set_task(&f->state, c->shown);
	sn_fiber_set_identity(f, c->identity);
	sn_fiber_set_scope(f, c->scope);
	*w->error = c->error;
}

#endif
