/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - members are tasks whose meta names their group.
 *
 * On its own worker a wait runs members from the newest end of the deque as
 * plain calls, and
 * sleeps for the rest.
 */
#include "sennit/group.h"

#include "base/check.h"
#include "os/os.h"
#include "sched/group.h"
#include "sched/place.h"
#include "sched/tie.h"

#include <errno.h>

_Static_assert(_Alignof(sennit_group) > TASK_TAG, "the tag fits below it");

#define ALL_FLAGS (SENNIT_GROUP_KEEP_GOING | SENNIT_GROUP_OWN_STACKS)

/* --- opening ------------------------------------------------------------ */

static inline void open_group(sennit_group *g, sennit_scheduler *s,
			      struct worker *w, sennit_time deadline,
			      uint32_t flags)
{
	sn_scope_open(&g->scope_, w ? w->home.current->scope : NULL, deadline,
		      flags);
	a_init(&g->others_, 0);
	g->here_ = 0;
	a_init(&g->error_, 0);
	g->waiter_ = NULL;
	g->scheduler_ = s;
	/* Nobody's worker: all is counted in others_. */
	g->home_ = w && w->scheduler == s ? (void *)w : (void *)g;
}

void sennit_group_init(sennit_group *g, sennit_time deadline, uint32_t flags)
{
	struct worker *w = sn_self;

	MISUSE(!w, "sennit_group_init", "no scheduler is bound to this thread");
	MISUSE(flags & ~ALL_FLAGS, "sennit_group_init", "unknown flags");
	open_group(g, w->scheduler, w, deadline, flags);
}

void sennit_group_init_on(sennit_group *g, sennit_scheduler *s,
			  sennit_time deadline, uint32_t flags)
{
	MISUSE_INHERITED(s, "sennit_group_init_on");
	MISUSE(flags & ~ALL_FLAGS, "sennit_group_init_on", "unknown flags");
	open_group(g, s, sn_self, deadline, flags);
}

/* --- spawning ----------------------------------------------------------- */

static void count_one(sennit_group *g)
{
	if (sn_group_is_home(g, sn_self))
		g->here_++;
	else
		a_add_rlx(&g->others_, GROUP_ONE); /* placing publishes it */
}

static int place(sennit_group *g, struct task t)
{
	int err;

	count_one(g);
	err = sn_place(g->scheduler_, t, 0, "sennit_group_spawn");
	if (err)
		sn_group_end(g, sn_self, 0);
	return err;
}

static NOINLINE int spawn(sennit_group *g, const sennit_task *task)
{
	struct task t;
	int         err;

	if (sn_scope_is_cancelled(&g->scope_)) {
		sn_group_keep_error(g, -ECANCELED);
		return -ECANCELED;
	}
	err = sn_place_pack(g->scheduler_, task, &t);
	if (err)
		return err;
	t.meta |= sn_task_member(g);
	err = place(g, t);
	if (err)
		sn_place_unpack(g->scheduler_, t);
	return err;
}

/* Apart, so that the usual way needs no frame. */
static NOINLINE int spawn_elsewhere(sennit_group *g, sennit_member_fn *run,
				    void *argument)
{
	const sennit_task task = { .run = sn_task_fn(run),
				   .argument = argument };

	return spawn(g, &task);
}

int sennit_group_spawn(sennit_group *g, sennit_member_fn *run, void *argument)
{
	struct worker *w = sn_self;
	int            err;

	if (unlikely(!sn_group_is_home(g, w) || !w->pushes || !run ||
		     sn_scope_may_be_cancelled(&g->scope_)))
		return spawn_elsewhere(g, run, argument);
	err = sn_place_own(w, (struct task){ sn_task_fn(run), argument,
					     sn_task_member(g) });
	g->here_ += !err;
	return err;
}

int sennit_group_spawn_copy(sennit_group *g, sennit_member_fn *run,
			    const void *arguments, size_t size)
{
	const sennit_task task = { .run = sn_task_fn(run),
				   .argument = (void *)(uintptr_t)arguments,
				   .copy_size = size };

	return spawn(g, &task);
}

/* --- waiting ------------------------------------------------------------ */

/* Whether a member may run on the caller's stack, as far as the worker is
 * concerned: nothing goes before, and the stack is not too deep. */
static ALWAYS_INLINE bool may_run_here(struct worker             *w,
				       const struct sennit_fiber *self)
{
	return !w->ready.head && w->pops && sn_ring_is_empty(&w->pinned) &&
	       sn_inbox_is_empty(&w->fibers) &&
	       (char *)__builtin_frame_address(0) >= self->shallow;
}

/* Take the newest own task if it is a member of *g. Counted as a dispatch
 * before the look, since what is due then may bring newer tasks. */
static ALWAYS_INLINE bool take_member(struct worker *w, const sennit_group *g,
				      struct task *t)
{
	if (!sn_loop_tick(w) || (sn_deque_newest_meta(&w->deque) &
				 ~TASK_OWNED) != sn_task_member(g))
		return false;
	return sn_deque_pop(&w->deque, t);
}

/* Run members of *g, which belongs here, on the running stack for as long as
 * the newest own task is one. */
static ALWAYS_INLINE void run_members(sennit_group *g, struct worker *w)
{
	struct sennit_fiber *self = w->home.current;
	struct sennit_scope *scope = self->scope;
	sennit_task_fn      *shown = sn_sight_shown(&self->sight);
	int                  saved = *w->error;
	struct task          t;

	self->scope = &g->scope_;
	while (may_run_here(w, self) && take_member(w, g, &t)) {
		int error;

		sn_sight_task(&self->sight, t.run);
		error = sn_task_member_fn(t.run)(t.argument);
		a_bump_owner(&w->tasks);
		if (unlikely(t.meta & TASK_OWNED))
			sn_worker_discard(w, t.argument, t.meta);
		sn_group_end(g, w, error);
		if (sn_group_is_over(g))
			break;
	}
	sn_sight_task(&self->sight, shown);
	self->scope = scope;
	*w->error = saved;
}

int sennit_group_wait(sennit_group *g)
{
	struct worker *w = sn_self;

	if (likely(g->home_ == w)) {
		if (!sn_group_is_over(g) && w->pops &&
		    !(g->scope_.flags_ & SENNIT_GROUP_OWN_STACKS))
			run_members(g, w);
	} else {
		MISUSE(g->home_ != g, "sennit_group_wait",
		       "another thread has opened the group");
	}
	if (unlikely(!sn_group_is_over(g)))
		sn_group_sleep(g);
	return (int)a_load_rlx(&g->error_); /* shown by group.end */
}

/* --- cancelling --------------------------------------------------------- */

bool sennit_group_cancel(sennit_group *g)
{
	return sn_wait_cancel(&g->scope_);
}

int sennit_cancelled(void)
{
	struct worker             *w = sn_self;
	const struct sennit_scope *scope = w ? w->home.current->scope : NULL;

	if (!scope)
		return 0;
	if (sn_scope_is_cancelled(scope))
		return -ECANCELED;
	if (scope->deadline_ != SENNIT_NEVER && os_now() >= scope->deadline_)
		return -ETIMEDOUT;
	return 0;
}
