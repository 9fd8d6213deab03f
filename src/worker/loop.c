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
#include "worker/worker_stacks.h"

/* How long a worker that could get no stack waits before it asks again. */
#define STACK_RETRY (10 * SENNIT_MILLISECOND)

/* --- running a task ----------------------------------------------------- */

/* After a task, still in its scope: what ends with it does. Between tasks the
 * floating-point control is the worker's; the stack was started with it, and
 * what a task changed ends here [W8]. */
static ALWAYS_INLINE void after_task(struct worker *w)
{
	if (unlikely(w->home.current->cleanup))
		sn_task_cleanup_run(w->home.current);
	if (likely(!w->home.fp_shared))
		arch_fp_set_control(w->home.fp_control);
	sn_counters_count_task(&w->counters);
}

/* Count a dispatch before a task that the loop does not see. False: the loop is
 * to have its turn, and counts that one itself. */
static ALWAYS_INLINE bool tick_for_loop(struct worker *w)
{
	if (likely(sn_loop_tick(w)))
		return true;
	sn_run_queue_due_in(&w->run, 1);
	return false;
}

/* The newest own task, if it is of *d and the loop would take it next. One with
 * a large copy is left to the loop. */
static ALWAYS_INLINE bool take_next_of(const struct sennit_domain *d,
				       struct worker *w, struct task *t)
{
	return sn_loop_wants_newest(w) && tick_for_loop(w) &&
	       sn_deque_pop_if(sn_worker_deque(w), ~TASK_BLOCK, (uintptr_t)d,
			       t);
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

	sn_trim_note_blocked(&w->trim, blocked);
	sn_counters_note_blocked(&w->counters, blocked);
}

/* The turns of what could starve: inbox and timers, and being closed. */
static NOINLINE void upkeep(struct worker *w)
{
	sennit_time now;

	sn_run_queue_due_in(&w->run, WORKER_UPKEEP);
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
	sn_worker_stacks_share(w);
}

/* A task's turn, fibers or not; now and then the oldest's. In the loop alone: a
 * fiber that is leaving cannot run a task. */
static NOINLINE void run_in_turn(struct worker *w)
{
	struct task t;

	if (sn_run_queue_turn(&w->run) ? sn_run_queue_take_oldest(&w->run, &t)
				       : sn_run_queue_take(&w->run, &t))
		run(w, &t);
}

/* Count a dispatch. True: it is a task's turn. */
static ALWAYS_INLINE bool tick(struct worker *w)
{
	if (likely(!sn_run_queue_tick(&w->run)))
		return false;
	upkeep(w);
	return true;
}

bool sn_loop_tick_due(struct worker *w)
{
	if (sn_run_queue_is_oldest_due(&w->run)) {
		/* The loop's next: see run_in_turn. */
		sn_run_queue_due_in(&w->run, 2);
		return false;
	}
	sn_run_queue_turn(&w->run);
	upkeep(w);
	return true;
}

/* An unbinding thread, or one whose scheduler has ended, goes home. */
static bool is_dry(const struct worker *w)
{
	return !sn_run_queue_has_own(&w->run) && !sn_worker_blocked(w) &&
	       sn_backlog_is_empty(w->backlog);
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
	if (sn_bound_is_leaving(&w->binding) && is_dry(w))
		return &w->main;
	if (!sn_run_queue_has_ready(&w->run) &&
	    sn_background_take(w, os_now_coarse()))
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
		if (sn_run_queue_take(&w->run, &t))
			w = run(w, &t);
		else if ((next = nothing_to_run(w)))
			return next;
		else if (!sn_run_queue_has_ready(&w->run))
			continue; /* idle has left a task to us alone */
		if (tick(w))
			run_in_turn(w);
		if (unlikely(sn_mailbox_has_fibers(&w->mail)))
			sn_worker_collect(w);
		next = sn_run_queue_take_ready(&w->run);
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
		sn_worker_stacks_check(w, self);
	sn_fiber_state_set_task(&self->state, NULL);
	sn_stack_cache_put(&w->idle_stacks, self);
	return sn_fiber_end(self, next);
}

/* --- suspending --------------------------------------------------------- */

/* See to an idle stack, or wait until a fiber of ours is ready, or a while: a
 * stack may be free by then. */
static COLD bool get_idle_stack(struct worker *w)
{
	note_peak(w);
	if (sn_worker_stacks_add(w))
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
		if (!sn_stack_cache_is_empty(&w->idle_stacks) ||
		    get_idle_stack(w))
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
				  sn_run_queue_has_task(&w->run);

		promised = false;
		if (sn_mailbox_has_fibers(&w->mail))
			sn_worker_collect(w);
		if (!tasks_turn)
			to = sn_run_queue_take_ready(&w->run);
		if (to == self)
			return;
		if (to) {
			sn_fiber_switch(self, to);
			return;
		}
		if (!sn_run_queue_has_task(&w->run)) {
			wait_for_work(w, first);
			first = false;
			promised = !sn_run_queue_has_ready(&w->run);
			continue;
		}
		if (!sn_stack_cache_is_empty(&w->idle_stacks) ||
		    get_idle_stack(w)) {
			if (sn_parking_has_idlers(w->parking))
				sn_balance_deal(w);
			to = sn_stack_cache_take(&w->idle_stacks);
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

	if (unlikely(sn_run_queue_is_due(&w->run) ||
		     sn_mailbox_has_fibers(&w->mail)))
		return false;
	sn_run_queue_tick(&w->run);
	to = sn_run_queue_take_ready(&w->run);
	if (to) {
		if (to != self)
			sn_fiber_switch(self, to);
	} else {
		if (unlikely(!sn_deque_has_private_owner(sn_worker_deque(w)) ||
			     sn_stack_cache_is_empty(&w->idle_stacks) ||
			     sn_parking_has_idlers(w->parking)))
			return false;
		to = sn_stack_cache_take(&w->idle_stacks);
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
	sn_counters_count_block(&w->counters);
	if (unlikely(!leave_fast(w)))
		leave(w);
	w = sn_self; /* see run */
	sn_fiber_state_run(&w->home.current->state);
	sn_counters_count_resume(&w->counters);
	*w->error = error;
}

void sn_loop_yield(struct worker *w)
{
	struct sennit_fiber *self = w->home.current;

	TORTURE_POINT(); /* who is alone comes back at once */
	sn_fiber_state_yield(&self->state,
			     (uint32_t)sn_counters_blocks(&w->counters),
			     a_load_rlx(&w->clock));
	sn_run_queue_ready(&w->run, self);
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
	struct sennit_fiber *ready = sn_run_queue_take_ready(&w->run);
	struct sennit_fiber *idle = NULL;
	struct task          t;

	if (!ready && (sn_run_queue_has_task(&w->run) ||
		       sn_background_take(w, os_now_coarse())))
		idle = sn_worker_stacks_take(w);
	if (ready)
		sn_fiber_switch(&w->main, ready);
	else if (idle)
		sn_fiber_start(&w->main, idle, run_loop);
	else if (sn_run_queue_take(&w->run, &t))
		run_on_own_stack(w, &t);
	else
		sn_idle_for_fiber(w, SENNIT_NEVER);
}

void sn_loop_run_dry(struct worker *w)
{
	CXX_BARRIER();
	ASSERT_OWNER(w);
	sn_bound_set_leaving(&w->binding, true);
	show_unbinding(w);
	sn_worker_collect(w);
	while (!is_dry(w)) {
		run_some(w);
		sn_worker_collect(w);
	}
	sn_fiber_state_run(&w->main.state);
	sn_bound_set_leaving(&w->binding, false);
}

void sn_loop_run(struct worker *w)
{
	/* A stack is touched when there is something to run on it. */
	do
		if (!sn_idle(w))
			return;
	while (!sn_run_queue_has_ready(&w->run) &&
	       !sn_run_queue_has_task(&w->run));
	sn_fiber_start(&w->main, sn_worker_stacks_first(w), run_loop);
}
