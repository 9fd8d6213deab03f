/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/loop.h"

#include "arch/cpu.h"
#include "life/worker_threads.h"
#include "os/os.h"
#include "sched/clients.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/idle.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "sched/steal.h"
#include "sched/worker.h"
#include "sched/worker_stacks.h"
#include "wait/deadlines.h"

/* How long a worker that could get no stack waits before it tries again. */
#define STACK_RETRY (10 * SENNIT_MILLISECOND)

/* --- the loop ----------------------------------------------------------- */

/* Run a task even if fibers are ready, or several old ones. Only the loop does
 * this, because a fiber that is being suspended cannot run a task. */
static NOINLINE void run_in_turn(struct worker *w)
{
	struct task t;

	do
		if (sn_run_queue_take(&w->run, &t))
			w = sn_run_task(w, &t);
	while (sn_run_queue_goes_on(&w->run) && sn_upkeep_is_turn(w));
}

/* Whether w has nothing left that only it can do: an unbinding thread then
 * returns to its own stack. */
static bool is_dry(const struct worker *w)
{
	return !sn_run_queue_has_own(&w->run) &&
	       !sn_counters_blocked(&w->counters) &&
	       sn_backlog_is_empty(w->backlog);
}

/* The fiber to resume when there is no task to run. NULL: look again. A
 * function of its own, because the check needs a stack frame, which would slow
 * the loop. */
static NOINLINE struct sennit_fiber *nothing_to_run(struct worker *w)
{
	sn_longjmp_check(w);
	sn_fiber_state_set_task(&w->home.current->state, NULL);
	if (w->threaded)
		return sn_idle(w) ? NULL : &w->main;
	if (w->binding.leaving && is_dry(w))
		return &w->main;
	if (!w->run.ready.head && sn_background_take(w, os_now_coarse()))
		return NULL;
	sn_idle_for_fiber(w, SENNIT_NEVER);
	return NULL;
}

/* Run tasks on the running stack until a fiber must be resumed. Entered when no
 * fiber is ready, or when it is a task's turn. */
static struct sennit_fiber *loop(struct worker *w)
{
	struct sennit_fiber *next;
	struct task          t;

	for (;;) {
		if (sn_run_queue_take(&w->run, &t))
			w = sn_run_task(w, &t);
		else if ((next = nothing_to_run(w)))
			return next;
		else if (!w->run.ready.head)
			continue; /* idle has left a task that only this worker
				   * may run */
		if (sn_upkeep_is_turn(w))
			run_in_turn(w);
		if (unlikely(!sn_inbox_is_empty(&w->mail.fibers)))
			sn_worker_collect(w);
		next = sn_run_queue_take_ready(&w->run);
		if (next)
			return next;
	}
}

/* The function that an idle stack runs from its start until it is idle
 * again. */
NO_SANITIZE static arch_stack run_loop(void *fiber)
{
	struct sennit_fiber *self = fiber;
	struct worker       *w = sn_worker_of(self);
	struct sennit_fiber *next;

	ARCH_BARRIER();
	sn_fiber_arrived(self, true);
	next = loop(w);
	if (unlikely(self->check_at_end))
		sn_worker_stacks_check(w, self);
	sn_fiber_state_set_task(&self->state, NULL);
	sn_stack_cache_put(&w->idle_stacks, self);
	return sn_fiber_end(self, next);
}

/* --- suspending --------------------------------------------------------- */

/* Get an idle stack. If none is available, wait until a fiber of this worker is
 * ready, or for STACK_RETRY, and return false. */
static COLD bool get_idle_stack(struct worker *w)
{
	sn_upkeep_note_peak(w);
	sn_hook_idle(w);
	if (sn_worker_stacks_add(w))
		return true;
	sn_idle_for_fiber(w, os_after(STACK_RETRY));
	return false;
}

/* Wait for work. The running fiber's wait has just begun if this is the `first`
 * look; the worker's clock may be too old for its start time. */
static COLD void wait_for_work(struct worker *w, bool first)
{
	sn_upkeep_note_peak(w);
	if (first)
		sn_fiber_state_set_since(&w->home.current->state,
					 os_now_coarse());
	if (w->threaded) {
		/* The worker must be able to start what it finds, because a
		 * thread that waits for a stack could have started it. */
		if (w->idle_stacks.idle || get_idle_stack(w))
			CHECK(sn_idle(w),
			      "a scheduler ended with a fiber waiting");
	} else if (!sn_background_take(w, os_now_coarse()))
		sn_idle_for_fiber(w, SENNIT_NEVER);
}

/* What the worker runs while the running fiber waits: a ready fiber, which may
 * be the running one; else a task on another stack (*fresh). Waits here until
 * there is something.
 * Long: the cases share what each look has found. */
static NOINLINE struct sennit_fiber *choose_next_fiber(struct worker *w,
						       bool          *fresh)
{
	bool own_task = false; /* sn_idle() has left a task that only this
				* worker may run */
	bool first = true;
	bool no_stack = false; /* there was no stack for a task: ready fibers
			       * first, even if the upkeep is due each time */

	sn_longjmp_check(w);
	for (;;) {
		struct sennit_fiber *to = NULL;
		bool tasks_turn = (sn_upkeep_is_turn(w) || own_task) &&
				  !no_stack && sn_run_queue_has_task(&w->run);

		/* What resumes may join, and must not wait for a stack. */
		if (!tasks_turn && w->run.oldest_next)
			sn_run_queue_skip_turn(&w->run);

		own_task = false;
		if (!sn_inbox_is_empty(&w->mail.fibers))
			sn_worker_collect(w);
		if (!tasks_turn)
			to = sn_run_queue_take_ready(&w->run);
		if (to)
			return to;
		if (!sn_run_queue_has_task(&w->run)) {
			wait_for_work(w, first);
			first = false;
			own_task = !w->run.ready.head;
			continue;
		}
		if (w->idle_stacks.idle || get_idle_stack(w)) {
			if (sn_parking_has_idlers(w->parking))
				sn_balance_deal(w);
			*fresh = true;
			return sn_stack_cache_take(&w->idle_stacks);
		}
		no_stack = true;
	}
}

/* Suspend the running fiber, and run that one. */
static ALWAYS_INLINE void leave_for(struct worker *w, struct sennit_fiber *to,
				    bool fresh)
{
	struct sennit_fiber *self = w->home.current;

	if (fresh)
		sn_fiber_start(self, to, run_loop);
	else if (to != self)
		sn_fiber_switch(self, to);
}

/* Suspend it in nearly all cases: no upkeep is due, the inbox is empty, and a
 * fiber is ready; or there are a private task and an idle stack, and no worker
 * is idle. */
static ALWAYS_INLINE bool leave_fast(struct worker *w)
{
	struct sennit_fiber *to;

	if (unlikely(w->run.dispatches == 1 ||
		     !sn_inbox_is_empty(&w->mail.fibers)))
		return false;
	--w->run.dispatches;
	to = sn_run_queue_take_ready(&w->run);
	if (to) {
		leave_for(w, to, false);
	} else {
		if (unlikely(!sn_deque_has_private_owner(sn_worker_deque(w)) ||
			     sn_parking_has_idlers(w->parking)))
			return false;
		/* Checked after the atomic accesses, so that the list is read
		 * once. */
		to = sn_stack_cache_take(&w->idle_stacks);
		if (unlikely(!to))
			return false;
		leave_for(w, to, true);
	}
	return true;
}

/* Suspend the running fiber, which another thread will make ready, or has
 * already. It is left in this function in all cases, so that the stacks of
 * fibers which wait for the same at the same place are equal but for the
 * innermost frame. */
static ALWAYS_INLINE void suspend(struct worker *w)
{
	int error = *w->error;

	sn_counters_count_block(&w->counters);
	if (unlikely(!leave_fast(w))) {
		bool                 fresh = false;
		struct sennit_fiber *to = choose_next_fiber(w, &fresh);

		leave_for(w, to, fresh);
	}
	w = sn_self; /* see sn_run_task */
	sn_fiber_state_run(&w->home.current->state);
	sn_counters_count_resume(&w->counters);
	*w->error = error;
}

/* The same for a worker that is observed, or inside a catch block, or during
 * stack unwinding: the exception state belongs to the fiber. */
static NOINLINE void suspend_aside(struct worker *w)
{
	const bool               observed = w->home.observed;
	uint64_t                 flow = 0;
	const struct cxx_globals mine = *w->exceptions;

	if (observed)
		flow = sn_hook_wait(w);
	if (sn_cxx_is_busy(&mine))
		*w->exceptions = (struct cxx_globals){ .caught = NULL };
	suspend(w);
	w = sn_self;
	if (sn_cxx_is_busy(&mine))
		*w->exceptions = mine;
	if (observed)
		sn_hook_resume(w, flow);
}

/* Either of these, or a wait that no histogram needs. */
static NOINLINE void suspend_marked(struct worker *w)
{
	if (!sn_hook_wait_passes(w)) {
		suspend_aside(w);
		return;
	}
	suspend(w);
	sn_hook_wait_passed(sn_self);
}

void sn_loop_suspend(struct worker *w)
{
	void *context = sn_race_leave();

	ASSERT_OWNER(w);
	if (sn_cxx_is_busy(w->home.cxx))
		suspend_marked(w);
	else
		suspend(w);
	sn_race_return(context);
	sn_race_acquire_last(&sn_self->home.current->wait);
}

void sn_loop_yield(struct worker *w)
{
	struct sennit_fiber *self = w->home.current;

	TORTURE_POINT(); /* a fiber that is alone returns at once */
	sn_fiber_state_yield(&self->state,
			     (uint32_t)sn_counters_blocks(&w->counters),
			     a_load_rlx(&w->clock));
	sn_run_queue_make_ready(&w->run, self);
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
	sn_run_task(w, t);
	sn_task_cleanup_restore(&w->main, &aside);
	show_unbinding(w);
}

/* One step of an unbinding thread on its own stack. It can run a task on that
 * stack if no other is available. */
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
	void *context = sn_race_leave();

	ARCH_BARRIER();
	ASSERT_OWNER(w);
	w->binding.leaving = true;
	show_unbinding(w);
	sn_worker_collect(w);
	while (!is_dry(w)) {
		run_some(w);
		sn_worker_collect(w);
	}
	sn_fiber_state_run(&w->main.state);
	w->binding.leaving = false;
	sn_race_return(context);
	sn_race_acquire(w);
}

/* A stack is first touched when there is something to run on it. Returns false
 * if the worker must leave. */
static bool await_first(struct worker *w)
{
	do
		if (!sn_idle(w))
			return false;
	while (!w->run.ready.head && !sn_run_queue_has_task(&w->run));
	return true;
}

void sn_loop_run(struct worker *w)
{
	void *context = sn_race_leave();

	sn_race_acquire(&w->thread); /* what began with it */
	if (await_first(w)) {
		sn_hook_run(w);
		sn_fiber_start(&w->main, sn_worker_stacks_first(w), run_loop);
	}
	sn_race_return(context);
	sn_race_acquire(w);
}

/* --- upkeep --------------------------------------------------------------- */

/* Record a possible peak of waiting fibers: some of them will run soon, or the
 * last look was some time ago. */
void sn_upkeep_note_peak(struct worker *w)
{
	uint64_t blocked = sn_counters_blocked(&w->counters);

	sn_trim_note_blocked(&w->trim, blocked);
	sn_counters_note_blocked(&w->counters, blocked);
}

/* The time, coarse if nothing needs it exactly. */
static sennit_time look_at_clock(struct worker *w)
{
	sennit_time now;

	if (sn_timers_is_empty(&w->timers)) {
		now = os_now_coarse();
		if (sn_run_queue_skips_clock(&w->run, now))
			return now;
	}
	now = os_now();
	sn_run_queue_check_age(&w->run, now);
	return now;
}

/* The regular checks that could otherwise starve: inbox, timers, and whether
 * the worker is closed. */
static bool look_after(struct worker *w)
{
	sennit_time now = look_at_clock(w);
	bool        is_turn;

	/* With something to poll, sn_poller_flush() sees to it that the
	 * next upkeep comes in time. */
	is_turn = sn_run_queue_begin_upkeep(&w->run, sn_poller_is_busy(w));
	if (w->threaded)
		sn_worker_threads_check(w);
	sn_worker_collect(w);
	sn_clients_upkeep(w, now);
	if (!sn_timers_is_empty(&w->timers))
		sn_deadlines_fire(w, now);
	a_store_rlx(&w->clock, now);
	sn_background_attend(w, now);
	return is_turn;
}

NOINLINE bool sn_upkeep(struct worker *w)
{
	/* If the scheduler has ended, there is nothing to run, and the loop
	 * ends as soon as it finds that out. */
	if (unlikely(sn_slots_is_wanted(w)))
		(void)!sn_slots_yield_between(w);
	return look_after(w);
}

/* Late views are harmless: the next upkeep looks again. */
static bool is_in_vain(struct worker *w)
{
	return sn_worker_wants_newest(w) && sn_inbox_is_empty(&w->mail.tasks) &&
	       sn_timers_is_empty(&w->timers) && !sn_poller_is_busy(w) &&
	       !sn_slots_is_wanted(w) && sn_backlog_is_empty(w->backlog) &&
	       !sn_worker_threads_is_draining(w);
}

bool sn_upkeep_skip(struct worker *w)
{
	return is_in_vain(w) && sn_run_queue_skip(&w->run);
}

/* Whether the caller, which is about to wait for a task that may be here, can
 * let the oldest task go first. That one takes a stack, and both may then wait
 * for tasks that are neither the newest: without another stack nobody could run
 * these. */
static bool can_take_turn(struct worker *w)
{
	if (!w->idle_stacks.idle && !sn_worker_stacks_add(w))
		return false;
	return !sn_stacks_are_limited(&w->scheduler->stacks) ||
	       w->idle_stacks.idle->next || sn_worker_stacks_add(w);
}

bool sn_upkeep_tick_due(struct worker *w)
{
	if (unlikely(sn_slots_is_wanted(w)))
		sn_slots_yield(w);
	(void)look_after(w);
	if (!w->run.oldest_next)
		return true;
	if (!can_take_turn(w)) {
		sn_run_queue_skip_turn(&w->run);
		return true;
	}
	w->run.dispatches = 1; /* the loop's next dispatch is a
					  * task's, even if fibers are ready */
	return false;
}
