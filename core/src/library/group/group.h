/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - counts the members of a group that have not ended.
 *
 *	here_    on the opener's thread: spawned - ended; plain
 *	others_  everywhere else: (spawned - ended) * GROUP_ONE + GROUP_WAITED
 *
 * Either may be negative, because a member that is spawned on one thread may
 * end on another. Their sum is the count. home_ is the opener's worker. When
 * the opener has to sleep, it clears home_, adds here_ to others_ and sets
 * GROUP_WAITED in the same step. From then on everything is counted in others_,
 * and the last member that ends wakes the opener.
 *
 * A wait with a deadline is claimed by the last member, or by the opener's
 * timer or a cancel around it. An opener that gives up takes GROUP_WAITED back.
 * If it finds GROUP_WAITED alone, the last member is about to see that it has
 * lost the claim, and clears the word: that is its last access to the group.
 * Until then the opener stays, for a few instructions of that member.
 *
 * Invariants
 *   - A member is counted before it can end.
 *   - A member that has uncounted itself no longer accesses the group,
 *     unless it was the last and WAITED was set. Then the opener does not
 *     leave before this member has woken it or cleared the word.
 *
 * Checked by core/test/model/scope.pml.
 */
#ifndef SN_GROUP_H
#define SN_GROUP_H

#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "wait/wait.h"

#define GROUP_WAITED UINT32_C(1)
#define GROUP_ONE    UINT32_C(2)

/* Record an error of *g that a member returned, or that a spawn failed with,
 * unless a recorded error has priority. */
COLD void sn_group_keep_error(sennit_group *g, int error);

/* The same for the error of a member. It may cancel the other members. */
COLD void sn_group_fail(sennit_group *g, int error);

/* One member less, on any thread. */
void sn_group_end_elsewhere(sennit_group *g);

/* The value of home_ when no worker may use here_. */
static inline void *sn_group_no_owner(sennit_group *g)
{
	return g;
}

/* Whether members on w, the caller's worker, are counted without atomics. Only
 * the thread of home_ changes home_, so a worker that sees itself there is
 * right. */
static inline bool sn_group_is_local(const sennit_group  *g,
				     const struct worker *w)
{
	return a_load_rlx(&g->home_) == w;
}

/* A member has ended with `error` on w, the caller's worker. */
static inline void sn_group_end(sennit_group *g, struct worker *w, int error)
{
	sn_race_release(g);
	if (unlikely(error))
		sn_group_fail(g, error);
	if (likely(sn_group_is_local(g, w)))
		g->here_--;
	else
		sn_group_end_elsewhere(g);
}

/* --- open groups ---------------------------------------------------------- */

/* The opener of a group must wait for it before its task ends. A task counts
 * the groups that it has open in the `cleanup` word of its fiber, which is
 * looked at when the task ends; an unbound thread counts them in its parker.
 * The group itself has GROUP_ENDED as its home from its end on: it has no
 * owner, so no fast path takes it for an open one.
 */
#define GROUP_ENDED ((void *)1)

#define SN_GROUP_LEFT_OPEN                                                \
	"a group was opened and not waited for (sennit_group_init, then " \
	"sennit_group_wait)"

/* How many the calling task, or unbound thread, has open. */
static inline uint32_t sn_group_open_count(void)
{
	return sn_self ? sn_self->home.current->cleanup / CLEANUP_GROUP
		       : sn_parker.groups;
}

/* --- group join ----------------------------------------------------------- */

/* Lets the opener of a group wait until all members have ended. */

/* Whether all members have ended. Call this on the opener's thread, before it
 * sleeps. */
static inline bool sn_group_is_over(const sennit_group *g)
{
	/* <- group.end */
	return !(a_load_acq(&g->others_) + g->here_ * GROUP_ONE);
}

/* Sleep until all members have ended. */
void sn_group_sleep(sennit_group *g);

/* The number of members that have not ended. On the opener's thread. */
static inline uint32_t sn_group_count(const sennit_group *g)
{
	/* <- group.end */
	return (a_load_acq(&g->others_) + g->here_ * GROUP_ONE) / GROUP_ONE;
}

/* --- call here ------------------------------------------------------------ */

/* Runs a task as a plain call, on the stack of a fiber that waits for that very
 * task: core/docs/design/groups.md says why that adds no deadlock.
 *
 * The task sees its own cancel scope, lock identity, local values and name, and
 * the fiber gets back its own afterwards, with errno.
 */

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
	void *outer = sn_race_begin(t->sent, f->low);
	int   error = sn_task_member_fn(t->run)(t->argument);

	sn_call_here_clean(f);
	sn_race_release(sn_task_group(t->meta));
	if (RACES_ARE_TOLD && unlikely(error)) /* so that it is the member's */
		sn_group_fail(sn_task_group(t->meta), error);
	sn_race_end_task(sn_worker_of(f), outer);
	return error;
}

static ALWAYS_INLINE void sn_call_here_tied(struct sennit_fiber *f,
					    const struct task   *t)
{
	void *outer = sn_race_begin(t->sent, f->low);

	t->run(t->argument);
	sn_call_here_clean(f);
	if (sn_task_is_tied(t->meta))
		sn_race_release(sn_task_wait_group(t->meta));
	sn_race_end_task(sn_worker_of(f), outer);
}

/* Call either kind when f has local values or a name, which the task must not
 * see, or is observed. */
NOINLINE int sn_call_here_aside(struct sennit_fiber *f, const struct task *t);

/* What the waiter gets back. */
struct call_here {
	struct sennit_fiber        *fiber; /* the waiter's */
	struct sennit_cancel_scope *scope;
	void                       *identity;
	struct shown_task           shown;
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

	c->fiber = f;
	c->scope = sn_fiber_scope(f);
	c->identity = sn_fiber_identity(f);
	c->shown = sn_fiber_state_shown(&f->state);
	c->error = *w->error;
	sn_fiber_set_scope(f, scope);
	sn_fiber_set_identity(f, identity);
	sn_fiber_state_begin(&f->state, t);
}

static ALWAYS_INLINE void sn_call_here_end(const struct call_here *c,
					   struct worker          *w)
{
	struct sennit_fiber *f = c->fiber;

	sn_fiber_state_show(&f->state, c->shown);
	sn_fiber_set_identity(f, c->identity);
	sn_fiber_set_scope(f, c->scope);
	*w->error = c->error;
}

#endif
