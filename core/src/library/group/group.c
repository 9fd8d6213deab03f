/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups: members are tasks whose meta contains the address of their
 * group.
 *
 * A wait on the opener's own worker runs members from the newest end of the
 * deque as plain calls. It sleeps until the other members have ended.
 */
#include "group/group.h"

#include "base/compiler.h"
#include "life/fork.h"
#include "observe/observe.h"
#include "os/os.h"
#include "group/submit.h"
#include "sched/fiber.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "sched/worker.h"
#include "group/cancel.h"
#include "wait/wait.h"
#include "sennit/group.h"

#include <errno.h>

/* --- errors ------------------------------------------------------------- */

void sn_group_keep_error(sennit_group *g, int error)
{
	uint32_t kept = 0;

	/* group.end makes it visible. */
	while (!a_cas_rlx(&g->error_, &kept, (uint32_t)error))
		if ((int)kept != -ECANCELED || error == -ECANCELED)
			return;
}

void sn_group_fail(sennit_group *g, int error)
{
	MISUSE(error > 0, "sennit_group_spawn",
	       "a member returned neither 0 nor a negative error");
	sn_group_keep_error(g, error);
	/* A stale value is harmless: sn_wake_cancelled checks again. */
	if (!(g->flags_ & SENNIT_GROUP_KEEP_GOING) &&
	    !(a_load_rlx(&g->scope_.state_) & SCOPE_CANCELLED))
		sn_wake_cancelled(&g->scope_);
}

/* --- the end ------------------------------------------------------------ */

/* The last member has ended. The opener waits, or is about to give up. */
static void wake_opener(sennit_group *g)
{
	struct waiter *n = g->waiter_;

	if (!n->is.raced || sn_waiter_claim(n))
		sn_wake(n);
	else
		a_store_rel(&g->others_, 0); /* -> group.end: what members did;
					      * the last access to the group */
}

void sn_group_end_elsewhere(sennit_group *g)
{
	/* -> group.end: what the member did <- group.end: what others did, and
	 * the opener's record */
	uint32_t old = a_sub_acqrel(&g->others_, GROUP_ONE);

	TORTURE_POINT(); /* the group may be gone, except in this case: */
	if (old == (GROUP_ONE | GROUP_WAITED))
		wake_opener(g);
}

/* --- group join ----------------------------------------------------------- */

/* The opener waits by *n from now on. Returns false if no member is left. */
static bool begin_sleep(sennit_group *g, struct waiter *n)
{
	uint32_t here = g->here_ * GROUP_ONE;

	g->waiter_ = n;
	g->here_ = 0;
	a_store_rlx(&g->home_, sn_group_no_owner(g)); /* relaxed: only this
						      * thread reads it */
	TORTURE_POINT();
	/* -> group.end: the record <- group.end: what members did */
	if (a_add_acqrel(&g->others_, here + GROUP_WAITED) + here)
		return true;
	if (n->fiber)
		sn_fiber_state_run(&n->fiber->state);
	return false;
}

void sn_group_sleep(sennit_group *g)
{
	struct waiter *n = sn_waiter_own(SN_UNCANCELLED);

	sn_wait_show(n, SENNIT_WAITS_FOR_GROUP, g,
		     sn_cancel_scope_deadline(&g->scope_));
	if (begin_sleep(g, n))
		(void)!sn_wait(n, SN_UNCANCELLED);
}

/* The opener's wait has ended with `err`, and members may be left. */
static int withdraw_opener(sennit_group *g, int err)
{
	for (uint32_t times = 0;; times++) {
		uint32_t others = a_load_acq(&g->others_); /* <- group.end */

		if (!others)
			return 0;
		if (others == GROUP_WAITED)
			os_thread_give_way(times);
		/* -> group.end: the record is not used any more <- group.end:
		 * what members did */
		else if (a_cas_weak_acqrel(&g->others_, &others,
					   others - GROUP_WAITED))
			return err;
	}
}

static int wait_for_members(sennit_group *g, sennit_time deadline)
{
	struct waiter *n = sn_waiter_own(deadline);
	int            err = 0;

	sn_wait_show(n, SENNIT_WAITS_FOR_MEMBERS, g, deadline);
	if (begin_sleep(g, n))
		err = sn_wait(n, deadline);
	if (err)
		return withdraw_opener(g, err);
	a_store_rlx(&g->others_, 0); /* relaxed: no member is left */
	return 0;
}

/* --- call here ------------------------------------------------------------ */

static int call_fresh(struct sennit_fiber *f, const struct task *t)
{
	if (!sn_task_is_tied(t->meta))
		return sn_call_here_member(f, t);
	sn_call_here_tied(f, t);
	return 0;
}

static COLD int call_observed(struct sennit_fiber *f, const struct task *t)
{
	struct observed_task waiter;
	int                  error;

	ARCH_BARRIER();
	sn_observe_begin_inside(sn_worker_of(f), t, &waiter);
	error = call_fresh(f, t);
	sn_observe_end_inside(sn_worker_of(f), &waiter);
	return error;
}

int sn_call_here_aside(struct sennit_fiber *f, const struct task *t)
{
	struct task_cleanup_saved aside;
	int                       error;

	ARCH_BARRIER();
	if (sn_observe_pass_inside(sn_worker_of(f)))
		return call_fresh(f, t);
	sn_task_cleanup_save(f, &aside);
	error = likely(!(aside.cleanup & CLEANUP_OBSERVED))
			? call_fresh(f, t)
			: call_observed(f, t);
	sn_task_cleanup_restore(f, &aside);
	return error;
}

/* --- group ---------------------------------------------------------------- */

_Static_assert(_Alignof(sennit_group) > TASK_TAG, "the tag fits below it");

#define GROUP_FLAGS (SENNIT_GROUP_KEEP_GOING | SENNIT_GROUP_OWN_STACKS)

/* --- open groups ---------------------------------------------------------- */

static void count_elsewhere(struct worker *w, int groups)
{
	if (w)
		w->home.current->cleanup += (uint32_t)groups * CLEANUP_GROUP;
	else
		sn_parker.groups += (uint32_t)groups;
}

#define NOT_THE_OPENER "the caller has no open group: another task opened it"

static ALWAYS_INLINE void check_group_not_ended(const sennit_group *g,
						const char         *call)
{
	MISUSE(a_load_rlx(&g->home_) == GROUP_ENDED, call,
	       "the group has ended: sennit_group_wait has returned");
}

static void check_opener(const sennit_group *g, const char *call)
{
	check_group_not_ended(g, call);
	MISUSE(!sn_group_is_local(g, sn_self) &&
		       a_load_rlx(&g->home_) != (const void *)g,
	       call, "another thread opened the group");
}

/* --- opening ------------------------------------------------------------ */

static ALWAYS_INLINE void open_group(sennit_group *g, sennit_scheduler *s,
				     struct sennit_cancel_scope *parent,
				     void *home, sennit_time deadline,
				     uint32_t flags)
{
	sn_cancel_scope_open(&g->scope_, parent, deadline);
	a_init(&g->others_, 0);
	g->here_ = 0;
	a_init(&g->error_, 0);
	g->flags_ = flags;
	a_init(&g->home_, home);
	g->scheduler_ = s;
}

void sennit_group_init(sennit_group *g, sennit_time deadline, uint32_t flags)
{
	struct worker       *w = sn_self;
	struct sennit_fiber *f;

	MISUSE(!w, "sennit_group_init", "no scheduler is bound to this thread");
	MISUSE(flags & ~GROUP_FLAGS, "sennit_group_init", "unknown flags");
	f = w->home.current;
	f->cleanup += CLEANUP_GROUP;
	open_group(g, w->scheduler, sn_fiber_scope(f), w, deadline, flags);
}

void sennit_group_init_on(sennit_group *g, sennit_scheduler *s,
			  sennit_time deadline, uint32_t flags)
{
	struct worker *w = sn_self;

	MISUSE_INHERITED(s, "sennit_group_init_on");
	MISUSE(flags & ~GROUP_FLAGS, "sennit_group_init_on", "unknown flags");
	open_group(g, s, w ? sn_fiber_scope(w->home.current) : NULL,
		   w && w->scheduler == s ? (void *)w : sn_group_no_owner(g),
		   deadline, flags);
	count_elsewhere(w, 1);
}

/* --- spawning ----------------------------------------------------------- */

static void count_one(sennit_group *g)
{
	if (sn_group_is_local(g, sn_self))
		g->here_++;
	else
		a_add_rlx(&g->others_, GROUP_ONE); /* relaxed: placing the task
						    * publishes it */
}

static int place_member(sennit_group *g, struct task t, uint32_t flags)
{
	int err;

	count_one(g);
	err = sn_place(g->scheduler_, t, flags,
		       flags ? "sennit_group_spawn_task"
			     : "sennit_group_spawn");
	if (err)
		sn_group_end(g, sn_self, 0);
	return err;
}

static int place_member_on(sennit_group *g, struct task t, uint32_t worker)
{
	int err;

	count_one(g);
	err = sn_place_on(g->scheduler_, worker, t, "sennit_group_spawn_task");
	if (err)
		sn_group_end(g, sn_self, 0);
	return err;
}

/* 0, or -ECANCELED: no more members. */
static int refuse_if_cancelled(sennit_group *g)
{
	check_group_not_ended(g, "sennit_group_spawn");
	MISUSE_INHERITED(g->scheduler_, "sennit_group_spawn");
	if (!sn_cancel_scope_is_cancelled(&g->scope_))
		return 0;
	sn_group_keep_error(g, -ECANCELED);
	return -ECANCELED;
}

/* `worker`: which one runs it; or ANY, as the flags say. */
#define ANY UINT32_MAX

static NOINLINE int spawn_member(sennit_group *g, const sennit_task *task,
				 uint32_t worker)
{
	struct task t;
	int         err = refuse_if_cancelled(g);

	if (!err)
		err = sn_submit_pack(g->scheduler_, task, &t);
	if (err)
		return err;
	t.meta |= sn_task_member(g);
	err = worker == ANY ? place_member(g, t, task->flags)
			    : place_member_on(g, t, worker);
	if (err)
		sn_submit_unpack(g->scheduler_, t);
	return err;
}

/* A function of its own, so that the fast path needs no stack frame. */
static NOINLINE int spawn_member_slow(sennit_group *g, sennit_member_fn *run,
				      void *argument)
{
	int err = refuse_if_cancelled(g);

	if (!err && !run)
		err = -EINVAL;
	if (err)
		return err;
	return place_member(
		g, TASK(sn_task_fn(run), argument, sn_task_member(g)), 0);
}

int sennit_group_spawn(sennit_group *g, sennit_member_fn *run, void *argument)
{
	struct worker *w = sn_self;

	SPAWN_CALL();
	if (unlikely(!sn_group_is_local(g, w) || !w->run.pushes ||
		     !sn_deque_has_room(sn_worker_deque(w)) || !run ||
		     sn_cancel_scope_may_be_cancelled(&g->scope_)))
		return spawn_member_slow(g, run, argument);
	g->here_++;
	sn_deque_push_room(sn_worker_deque(w),
			   TASK(sn_task_fn(run), argument, sn_task_member(g)));
	return unlikely(sn_place_is_help_due(w)) ? sn_place_help(w) : 0;
}

int sennit_group_spawn_copy(sennit_group *g, sennit_member_fn *run,
			    const void *arguments, size_t size)
{
	const sennit_task task = { .run = sn_task_fn(run),
				   .argument = (void *)(uintptr_t)arguments,
				   .copy_size = size };

	SPAWN_CALL();
	return spawn_member(g, &task, ANY);
}

int sennit_group_spawn_task(sennit_group *g, const sennit_member *member)
{
	const bool        here = member->flags == SENNIT_MEMBER_SAME_THREAD;
	const bool        on = member->flags == SENNIT_MEMBER_ON_WORKER;
	const sennit_task task = { .run = sn_task_fn(member->run),
				   .argument = member->argument,
				   .copy_size = member->copy_size,
				   .flags = here ? SENNIT_TASK_SAME_THREAD
						 : 0 };

	SPAWN_CALL();
	if ((member->flags && !here && !on) || (member->worker && !on))
		return -EINVAL;
	return spawn_member(g, &task, on ? member->worker : ANY);
}

/* --- waiting ------------------------------------------------------------ */

/* Take the newest task of w if it is a member of *g. */
static ALWAYS_INLINE bool take_member(const sennit_group *g, struct worker *w,
				      struct task *t)
{
	return sn_deque_pop_if(sn_worker_deque(w), ~TASK_OWNED,
			       sn_task_member(g), t);
}

/* Call the member on the running stack. */
static ALWAYS_INLINE int call_member(sennit_group *g, struct worker *w,
				     const struct task *t)
{
	struct call_here c;
	int              error;

	sn_call_here_begin(&c, w, t, &g->scope_, g);
	error = likely(!sn_task_cleanup_is_needed(c.fiber))
			? sn_call_here_member(c.fiber, t)
			: sn_call_here_aside(c.fiber, t);
	sn_call_here_end(&c, w);
	return error;
}

static NOINLINE int call_copied_member(sennit_group *g, struct worker *w,
				       const struct task *t)
{
	int error;

	ARCH_BARRIER();
	error = call_member(g, w, t);
	sn_worker_discard(w, t->argument, t->meta);
	return error;
}

/* Run members of *g on the running stack while the newest task of w is one. The
 * group must belong to w. Returns true if the last one was among them. */
static ALWAYS_INLINE bool run_members(sennit_group *g, struct worker *w)
{
	struct task t;

	while (sn_call_here_may(w) && take_member(g, w, &t)) {
		int error = likely(t.meta == sn_task_member(g))
				    ? call_member(g, w, &t)
				    : call_copied_member(g, w, &TASK_AGAIN(&t));

		sn_counters_count_task(&w->counters);
		if (unlikely(error))
			sn_group_fail(g, error);
		g->here_--;
		if (sn_group_is_over(g))
			return true;
	}
	return false;
}

/* A new task must not see a handled exception, so members do not run on a stack
 * that handles one. */
static ALWAYS_INLINE bool may_run_members(const sennit_group  *g,
					  const struct worker *w)
{
	return likely(!(g->flags_ & SENNIT_GROUP_OWN_STACKS)) &&
	       !sn_worker_has_exceptions(w);
}

/* join_group() if the count of open groups is not 0 afterwards: the opener has
 * others open, or the caller had none. Members count their own meanwhile, so
 * that they need not be called aside. */
static NOINLINE bool join_group_inside(sennit_group *g, struct worker *w)
{
	struct sennit_fiber *f = w->home.current;
	const uint32_t       open = f->cleanup / CLEANUP_GROUP * CLEANUP_GROUP;
	bool                 over;

	MISUSE(open == (uint32_t)-CLEANUP_GROUP, "sennit_group_wait",
	       NOT_THE_OPENER);
	if (!may_run_members(g, w))
		return false;
	f->cleanup -= open;
	over = run_members(g, w);
	f->cleanup += open;
	return over;
}

/* The opener waits on its own worker. Returns true if no member is left. */
static ALWAYS_INLINE bool join_group(sennit_group *g, struct worker *w)
{
	struct sennit_fiber *f = w->home.current;

	f->cleanup -= CLEANUP_GROUP;
	if (unlikely(f->cleanup >= CLEANUP_GROUP))
		return join_group_inside(g, w);
	return may_run_members(g, w) && run_members(g, w);
}

int sennit_group_wait_until(sennit_group *g, sennit_time deadline)
{
	int err = 0;

	check_opener(g, "sennit_group_wait_until");
	if (!sn_group_is_over(g))
		err = deadline ? wait_for_members(g, deadline) : -ETIMEDOUT;
	if (!err)
		sn_race_acquire(g);
	return err;
}

int sennit_group_drain(sennit_group *g, sennit_time deadline)
{
	check_opener(g, "sennit_group_drain");
	if (sennit_group_wait_until(g, deadline))
		sennit_group_cancel(g);
	return KEEP_FRAME(sennit_group_wait(g));
}

uint32_t sennit_group_members(const sennit_group *g)
{
	check_opener(g, "sennit_group_members");
	sn_race_acquire(g);
	return sn_group_count(g);
}

/* The opener waits, and is not on a worker of the group's, or has slept. */
static NOINLINE void leave_elsewhere(const sennit_group *g, struct worker *w)
{
	check_opener(g, "sennit_group_wait");
	MISUSE(!sn_group_open_count(), "sennit_group_wait", NOT_THE_OPENER);
	count_elsewhere(w, -1);
}

int sennit_group_wait(sennit_group *g)
{
	struct worker *w = sn_self;
	bool           over = false;

	ARCH_BARRIER();
	if (likely(sn_group_is_local(g, w)))
		over = join_group(g, w);
	else
		leave_elsewhere(g, w);
	if (unlikely(!over && !sn_group_is_over(g)))
		sn_group_sleep(g);
	sn_race_acquire(g);
	sn_cancel_scope_close(&g->scope_);
	a_store_rlx(&g->home_, GROUP_ENDED); /* relaxed: any further call is
					      * misuse */
	return (int)a_load_rlx(&g->error_);  /* group.end made it visible */
}

/* --- cancelling --------------------------------------------------------- */

bool sennit_group_cancel(sennit_group *g)
{
	check_group_not_ended(g, "sennit_group_cancel");
	sn_group_keep_error(g, -ECANCELED);
	return sn_wake_cancelled(&g->scope_);
}

static struct sennit_cancel_scope *scope_of_caller(void)
{
	struct worker *w = sn_self;

	return w ? sn_fiber_scope(w->home.current) : NULL;
}

sennit_group *sennit_group_current(void)
{
	struct sennit_cancel_scope *scope = scope_of_caller();

	return scope && scope->kind_ == SCOPE_GROUP
		       ? container_of(scope, sennit_group, scope_)
		       : NULL;
}

void sennit_group_set_deadline(sennit_group *g, sennit_time deadline)
{
	check_group_not_ended(g, "sennit_group_set_deadline");
	sn_cancel_scope_reschedule(&g->scope_, deadline);
}

int sennit_check_cancelled(void)
{
	const struct sennit_cancel_scope *scope = scope_of_caller();

	return scope ? sn_cancel_scope_error(scope) : 0;
}

sennit_time sennit_deadline(void)
{
	const struct sennit_cancel_scope *scope = scope_of_caller();

	return scope ? sn_cancel_scope_deadline(scope) : SENNIT_NEVER;
}

bool sennit_group_is_cancelled(const sennit_group *g)
{
	check_group_not_ended(g, "sennit_group_is_cancelled");
	return sn_cancel_scope_is_cancelled(&g->scope_);
}
