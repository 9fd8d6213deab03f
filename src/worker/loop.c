/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/loop.h"

#include "os/os.h"
#include "worker/longjmp_check.h"
#include "worker/background.h"
#include "worker/domain.h"
#include "worker/group_member.h"
#include "worker/idle.h"
#include "worker/task_cleanup.h"
#include "worker/balance.h"
#include "worker/slots.h"
#include "worker/worker_threads.h"
#include "worker/trim.h"

/* How long a worker that could get no stack waits before it asks again. */
#define STACK_RETRY (10 * SENNIT_MILLISECOND)

/* --- what is next ------------------------------------------------------- */

/* Each fiber lies on a page of its own. The record of the next one has been
 * fetched while the one before ran: now for what it resumes with, and for the
 * record of the one after it. */
static inline void fetch_ahead(const struct node *next)
{
	const struct sennit_fiber *f = container_of(next, struct sennit_fiber,
						    link);
	/* A number: null for one that is ready before it was ever left. */
	const uintptr_t frames = (uintptr_t)f->suspended;

	__builtin_prefetch((const void *)frames);
	__builtin_prefetch((const void *)(frames + 64));
	__builtin_prefetch((const void *)(frames + 128));
	__builtin_prefetch((const void *)(frames + 192));
	/* run_loop's, which ends the task. */
	__builtin_prefetch((const void *)((uintptr_t)f - 64));
	__builtin_prefetch(next->next);
}

/* The fiber that has been ready longest. */
static ALWAYS_INLINE struct sennit_fiber *take_ready(struct worker *w)
{
	struct node *n = w->ready.head;

	if (!n)
		return NULL;
	w->ready.head = n->next;
	if (n->next)
		fetch_ahead(n->next);
	return container_of(n, struct sennit_fiber, link);
}

static bool take_pinned(struct worker *w, struct task *t)
{
	return w->oldest_first || w->threaded ? sn_ring_pop_front(&w->pinned, t)
					      : sn_ring_pop_back(&w->pinned, t);
}

/* Tasks that stay and tasks that may be stolen take turns; or oldest first. */
static NOINLINE bool take_task_slow(struct worker *w, struct task *t)
{
	if (!sn_ring_is_empty(&w->pinned) &&
	    (w->dispatches & 1 || !w->threaded))
		return take_pinned(w, t);
	if (w->threaded && (w->oldest_first ? sn_deque_pop_oldest(&w->deque, t)
					    : sn_deque_pop(&w->deque, t)))
		return true;
	return take_pinned(w, t);
}

static ALWAYS_INLINE bool take_task(struct worker *w, struct task *t)
{
	if (likely(w->pops && sn_ring_is_empty(&w->pinned)))
		return sn_deque_pop(&w->deque, t);
	return take_task_slow(w, t);
}

/* After a task, still in its scope: what ends with it does. Between tasks the
 * floating-point control is the worker's; the stack was started with it, and
 * what a task changed ends here [W8]. */
static ALWAYS_INLINE void after_task(struct worker *w)
{
	if (unlikely(w->home.current->cleanup))
		sn_task_cleanup_run(w->home.current);
	if (likely(!w->home.fp_shared))
		arch_fp_set_control(w->home.fp_control);
	a_bump_owner(&w->tasks);
}

/* Count a dispatch before a task that the loop does not see. False: the loop is
 * to have its turn, and counts that one itself. */
static ALWAYS_INLINE bool tick_for_loop(struct worker *w)
{
	if (likely(sn_loop_tick(w)))
		return true;
	w->dispatches = 1;
	return false;
}

/* The newest own task, if it is of *d and the loop would take it next. One with
 * a large copy is left to the loop. */
static ALWAYS_INLINE bool take_next_of(const struct sennit_domain *d,
				       struct worker *w, struct task *t)
{
	return sn_loop_wants_newest(w) && tick_for_loop(w) &&
	       sn_deque_pop_if(&w->deque, ~TASK_BLOCK, (uintptr_t)d, t);
}

/* A task of a domain, and those of it that are next: see worker/domain.h. */
static NOINLINE struct worker *run_in_domain(struct worker     *w,
					     const struct task *first)
{
	struct sennit_domain *d = sn_task_domain(first->meta);
	struct domain_part   *part = sn_domain_part(d, w);
	struct task           t = { first->run, first->argument, first->meta };

	sn_domain_enter(d, part);
	w->home.current->scope = &d->scope;
	for (;;) {
		t.run(t.argument);
		w = sn_self;
		after_task(w);
		if (unlikely(t.meta & TASK_OWNED))
			sn_worker_discard(w, t.argument, t.meta);
		sn_domain_count(d, part, -1);
		if (!take_next_of(d, w, &t))
			break;
		sn_fiber_state_set_task(&w->home.current->state, t.run);
	}
	w->home.current->scope = NULL;
	sn_domain_leave(d, part);
	return w;
}

/* A member of a group, or a task with a copied argument. The copy is freed
 * before the group learns of the end, as that may be the group's own. */
static NOINLINE struct worker *run_packed(struct worker     *w,
					  const struct task *t)
{
	sennit_group *g = NULL;
	void         *argument = t->argument;
	uintptr_t     meta = t->meta;
	int           error = 0;

	if (meta & TASK_MEMBER) {
		g = sn_task_group(meta);
		w->home.current->scope = &g->scope_;
		error = sn_task_member_fn(t->run)(argument);
	} else {
		if ((meta & TASK_TAG) == TASK_INSIDE)
			w->home.current->scope = sn_task_scope(meta);
		else if (meta > TASK_TAG)
			return run_in_domain(w, t);
		t->run(argument);
	}
	w = sn_self;
	after_task(w);
	w->home.current->scope = NULL;
	sn_worker_discard(w, argument, meta);
	if (g)
		sn_group_end(g, w, error);
	return w;
}

/* Run a task; returns w. By pointer, and field by field: a copy of the whole
 * would be loaded wider than it was stored, which stalls. And w is read anew
 * from the thread: what a register held across a switch comes from the resumed
 * stack, and all that follows would have to wait for that; the thread-local is
 * at an address known beforehand. */
static ALWAYS_INLINE struct worker *run(struct worker *w, const struct task *t)
{
	sn_fiber_state_set_task(&w->home.current->state, t->run);
	if (unlikely(t->meta != TASK_BORROWED))
		return run_packed(w, t);
	t->run(t->argument);
	w = sn_self;
	after_task(w);
	return w;
}

/* Fibers of ours that wait are many here: soon some will run again, or it is
 * some time since the last look. */
static void note_peak(struct worker *w)
{
	uint64_t blocked = sn_worker_blocked(w);

	if (blocked > w->busiest)
		w->busiest = blocked;
	if (blocked > a_load_rlx(&w->blocked_peak))
		a_store_rlx(&w->blocked_peak, blocked);
}

/* The turns of what could starve: inbox and timers, and being closed. */
static NOINLINE void upkeep(struct worker *w)
{
	sennit_time now;

	w->dispatches = WORKER_UPKEEP;
	if (unlikely(sn_slots_is_wanted(w)))
		sn_slots_yield(w);
	if (w->threaded)
		sn_worker_threads_check(w);
	sn_worker_collect(w);
	if (sn_timers_is_empty(&w->timers)) {
		now = os_now_coarse();
	} else {
		now = os_now();
		sn_worker_fire(w, now);
	}
	a_store_rlx(&w->clock, now);
	note_peak(w);
	if (unlikely(sn_trim_is_due(w, now)))
		sn_trim_attend(w, now);
	sn_background_attend(w, now);
	sn_worker_share_stacks(w);
}

/* A task's turn, fibers or not; now and then the oldest's. In the loop alone: a
 * fiber that is leaving cannot run a task. */
static NOINLINE void run_in_turn(struct worker *w)
{
	struct task t;
	bool        got;

	if (--w->upkeeps) {
		got = take_task(w, &t);
	} else {
		w->upkeeps = WORKER_OLDEST;
		got = w->threaded ? sn_deque_pop_oldest(&w->deque, &t)
				  : sn_ring_pop_front(&w->pinned, &t);
	}
	if (got)
		run(w, &t);
}

/* Count a dispatch. True: it is a task's turn. */
static ALWAYS_INLINE bool tick(struct worker *w)
{
	if (likely(--w->dispatches))
		return false;
	upkeep(w);
	return true;
}

bool sn_loop_tick_due(struct worker *w)
{
	if (w->upkeeps == 1) {
		w->dispatches = 2; /* the loop's next: see run_in_turn */
		return false;
	}
	w->upkeeps--;
	upkeep(w);
	return true;
}

/* An unbinding thread, or one whose scheduler has ended, goes home. */
static bool is_dry(const struct worker *w)
{
	return !w->ready.head && sn_ring_is_empty(&w->pinned) &&
	       !sn_worker_blocked(w) && sn_backlog_is_empty(w->backlog);
}

/* --- the loop ----------------------------------------------------------- */

/* The fiber to resume when there is no task to run. NULL: look again. Apart:
 * the check needs a frame, which would cost the loop. */
static NOINLINE struct sennit_fiber *nothing_to_run(struct worker *w)
{
	sn_longjmp_check(w);
	sn_fiber_state_set_task(&w->home.current->state, NULL);
	if (w->threaded)
		return sn_idle(w) ? NULL : &w->main;
	if (w->unbinding && is_dry(w))
		return &w->main;
	if (!w->ready.head && sn_background_take(w, os_now_coarse()))
		return NULL;
	sn_idle_for_fiber(w, SENNIT_NEVER);
	return NULL;
}

/* Run tasks on the running stack until a fiber is to be resumed. Entered when
 * no fiber is ready, or when it is a task's turn. */
static struct sennit_fiber *loop(struct worker *w)
{
	struct sennit_fiber *next;
	struct task          t;

	for (;;) {
		if (take_task(w, &t))
			w = run(w, &t);
		else if ((next = nothing_to_run(w)))
			return next;
		else if (!w->ready.head)
			continue; /* idle has left a task to us alone */
		if (tick(w))
			run_in_turn(w);
		if (unlikely(!sn_inbox_is_empty(&w->fibers)))
			sn_worker_collect(w);
		next = take_ready(w);
		if (next)
			return next;
	}
}

/* What an idle stack is started with, until it is idle again. */
NO_SANITIZE static arch_stack run_loop(void *fiber)
{
	struct sennit_fiber *self = fiber;
	struct worker       *w = sn_worker_of(self);
	struct sennit_fiber *next;

	CXX_BARRIER();
	sn_fiber_arrived(self, true);
	next = loop(w);
	if (unlikely(self->in_care))
		sn_worker_end_unguarded(w, self);
	sn_fiber_state_set_task(&self->state, NULL);
	self->link.next = w->idle;
	w->idle = &self->link;
	return sn_fiber_end(self, next);
}

/* --- suspending --------------------------------------------------------- */

/* See to an idle stack, or wait until a fiber of ours is ready, or a while: a
 * stack may be free by then. */
static COLD bool get_idle_stack(struct worker *w)
{
	note_peak(w);
	if (sn_worker_add_stack(w))
		return true;
	sn_idle_for_fiber(w, os_after(STACK_RETRY));
	return false;
}

/* The running fiber's wait has just begun, unless this is not the `first` look:
 * what the worker did before it was longer ago than its clock says. */
static COLD void wait_for_work(struct worker *w, bool first)
{
	note_peak(w);
	if (first)
		sn_fiber_state_set_since(&w->home.current->state,
					 os_now_coarse());
	if (w->threaded) {
		/* What it finds it must be able to start: whoever waits for
		 * that could have. */
		if (w->idle || get_idle_stack(w))
			CHECK(sn_idle(w),
			      "a scheduler ended with a fiber waiting");
	} else if (!sn_background_take(w, os_now_coarse()))
		sn_idle_for_fiber(w, SENNIT_NEVER);
}

/* Leave the running fiber, which somebody will make ready, or has already: for
 * a ready fiber, else for a task on another stack, else wait here. */
static NOINLINE void leave(struct worker *w)
{
	struct sennit_fiber *self = w->home.current;
	bool promised = false; /* idle has left a task to us alone */
	bool first = true;

	sn_longjmp_check(w);
	for (;;) {
		struct sennit_fiber *to = NULL;
		bool                 tasks_turn = (tick(w) || promised) &&
				  sn_worker_has_task(w);

		promised = false;
		if (!sn_inbox_is_empty(&w->fibers))
			sn_worker_collect(w);
		if (!tasks_turn)
			to = take_ready(w);
		if (to == self)
			return;
		if (to) {
			sn_fiber_switch(self, to);
			return;
		}
		if (!sn_worker_has_task(w)) {
			wait_for_work(w, first);
			first = false;
			promised = !w->ready.head;
			continue;
		}
		if (w->idle || get_idle_stack(w)) {
			if (sn_parking_has_idlers(w->parking))
				sn_balance_deal(w);
			to = sn_worker_idle_stack(w);
			sn_fiber_start(self, to, run_loop);
			return;
		}
	}
}

/* The same where nothing is in the way, which is nearly always: no upkeep due,
 * the inbox empty, a fiber ready, or an own task and a stack at hand and nobody
 * idle. */
static ALWAYS_INLINE bool leave_fast(struct worker *w)
{
	struct sennit_fiber *self = w->home.current;
	struct sennit_fiber *to;
	struct node         *idle;

	if (unlikely(w->dispatches == 1 || !sn_inbox_is_empty(&w->fibers)))
		return false;
	w->dispatches--;
	to = take_ready(w);
	if (to) {
		if (to != self)
			sn_fiber_switch(self, to);
	} else {
		if (unlikely(!sn_deque_has_private_owner(&w->deque) ||
			     sn_parking_has_idlers(w->parking)))
			return false;
		idle = w->idle; /* after atomics, so that it is read once */
		if (unlikely(!idle))
			return false;
		to = sn_worker_take_idle(w, idle);
		sn_fiber_start(self, to, run_loop);
	}
	return true;
}

/* The same within a catch block, or during stack unwinding: the exceptions are
 * the fiber's. */
static COLD void suspend_with_exceptions(struct worker *w)
{
	struct cxx_globals mine = *w->home.cxx;

	*w->home.cxx = (struct cxx_globals){ .caught = NULL };
	sn_loop_suspend(w);
	*sn_self->home.cxx = mine;
}

void sn_loop_suspend(struct worker *w)
{
	int error = *w->error;

	ASSERT_OWNER(w);
	if (sn_cxx_is_busy(w->home.cxx)) {
		suspend_with_exceptions(w);
		return;
	}
	a_bump_owner(&w->blocks);
	if (unlikely(!leave_fast(w)))
		leave(w);
	w = sn_self; /* see run */
	sn_fiber_state_run(&w->home.current->state);
	sn_worker_count_resume(w);
	*w->error = error;
}

void sn_loop_yield(struct worker *w)
{
	struct sennit_fiber *self = w->home.current;

	TORTURE_POINT(); /* who is alone comes back at once */
	sn_fiber_state_yield(&self->state, (uint32_t)a_load_rlx(&w->blocks),
			     a_load_rlx(&w->clock));
	sn_worker_ready(w, self);
	sn_loop_suspend(w);
}

static void show_unbinding(struct worker *w)
{
	sn_fiber_state_set_task(&w->main.state, NULL);
	sn_fiber_state_block(&w->main.state, SENNIT_WAITS_FOR_WORK, NULL, 0,
			     a_load_rlx(&w->clock), SENNIT_NEVER);
}

static void run_on_own_stack(struct worker *w, const struct task *t)
{
	struct task_cleanup_saved aside;

	sn_fiber_state_run(&w->main.state);
	sn_task_cleanup_save(&w->main, &aside);
	run(w, t);
	sn_task_cleanup_restore(&w->main, &aside);
	show_unbinding(w);
}

/* One step of an unbinding thread on its own stack, which can run a task where
 * no other stack can be had. */
static void run_some(struct worker *w)
{
	struct sennit_fiber *ready = take_ready(w);
	struct sennit_fiber *idle = NULL;
	struct task          t;

	if (!ready &&
	    (sn_worker_has_task(w) || sn_background_take(w, os_now_coarse())))
		idle = sn_worker_stack(w);
	if (ready)
		sn_fiber_switch(&w->main, ready);
	else if (idle)
		sn_fiber_start(&w->main, idle, run_loop);
	else if (take_task(w, &t))
		run_on_own_stack(w, &t);
	else
		sn_idle_for_fiber(w, SENNIT_NEVER);
}

void sn_loop_run_dry(struct worker *w)
{
	CXX_BARRIER();
	ASSERT_OWNER(w);
	w->unbinding = true;
	show_unbinding(w);
	sn_worker_collect(w);
	while (!is_dry(w)) {
		run_some(w);
		sn_worker_collect(w);
	}
	sn_fiber_state_run(&w->main.state);
	w->unbinding = false;
}

void sn_loop_run(struct worker *w)
{
	/* A stack is touched when there is something to run on it. */
	do
		if (!sn_idle(w))
			return;
	while (!w->ready.head && !sn_worker_has_task(w));
	sn_fiber_start(&w->main, sn_worker_first_stack(w), run_loop);
}
