/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - decides what a worker does next: resume a fiber, start a task, or
 * idle; and the regular upkeep in between. */
#ifndef SN_LOOP_H
#define SN_LOOP_H

#include "observe/observe.h"
#include "sched/place.h"
#include "sched/state.h"

/* Suspend the running fiber until it is made ready; others run meanwhile. errno
 * keeps its value. */
void sn_loop_suspend(struct worker *w);

/* Let other fibers, and sometimes a task, run first. */
void sn_loop_yield(struct worker *w);

/* Run w's tasks and fibers until nothing is left, from the thread's own
 * stack. */
void sn_loop_run_dry(struct worker *w);

/* The main function of a worker's thread between entering and leaving: it stays
 * on the thread's own stack until there is work, then switches to stacks of the
 * pool. */
void sn_loop_run(struct worker *w);

/* --- task cleanup --------------------------------------------------------- */

/* What ends together with a task.
 *
 * A task that has something to end is marked in the `cleanup` word of its
 * fiber. The loop checks this word after each task, and calls this module if it
 * is not 0.
 */

/* The task of f, which runs, has returned with marks: end what they name. May
 * wait. */
COLD void sn_task_cleanup_run(struct sennit_fiber *f);

/* The state of a stack's task while another task runs on the same stack. */
struct task_cleanup_saved {
	uint32_t       cleanup;
	struct locals *locals;
	char           name[SENNIT_NAME_SIZE];
};

/* Whether there is any state to save. */
static inline bool sn_task_cleanup_is_needed(const struct sennit_fiber *f)
{
	return f->cleanup & ~CLEANUP_FP_SHARED || f->locals;
}

/* Call save before another task runs on f, which runs, and restore
 * afterwards. */
COLD void sn_task_cleanup_save(struct sennit_fiber       *f,
			       struct task_cleanup_saved *aside);
COLD void sn_task_cleanup_restore(struct sennit_fiber             *f,
				  const struct task_cleanup_saved *aside);

/* --- run task ------------------------------------------------------------- */

/* Runs a task on the running stack.
 *
 *	borrowed argument     called, nothing else
 *	copied argument       freed afterwards
 *	member of a group     counted off afterwards
 *	tied to a wait group  likewise
 *	task of a domain      counted off, and so are the domain's tasks that
 *	                      are next and run with it
 */

/* A task has ended that has more to end than its floating-point control. */
COLD void sn_run_task_clean(struct worker *w);

/* After a task, still in its scope: end what belongs to the task. Between tasks
 * the floating-point control is the worker's. The stack was started with it,
 * and a task's change ends here [W8]. */
static ALWAYS_INLINE void sn_run_task_after(struct worker *w)
{
	if (likely(!w->home.current->cleanup))
		arch_fp_set_control(w->home.fp_control);
	else
		sn_run_task_clean(w);
	sn_counters_count_task(&w->counters);
}

/* *t begins on the running fiber. What is rare reads it again: a register that
 * kept a part of it would be saved and restored by the caller of every task. */
static ALWAYS_INLINE void sn_run_task_before(struct worker     *w,
					     const struct task *t)
{
	sn_fiber_state_set_task(&w->home.current->state, t->run);
	if (unlikely(w->home.observed))
		sn_observe_begin(w, t);
}

/* Run a task that is more than a function and a borrowed argument. Returns
 * w. */
NOINLINE struct worker *sn_run_task_packed(struct worker     *w,
					   const struct task *t);

/* Run a task; returns w. The task is passed by pointer and read field by field:
 * loading a whole copy would be wider than its stores, which stalls. w is read
 * again from the thread-local: a register that was held across a switch comes
 * from the resumed stack, and everything after it would have to wait for that
 * load, whereas the thread-local's address is known in advance. */
static ALWAYS_INLINE struct worker *sn_run_task(struct worker     *w,
						const struct task *t)
{
	sn_run_task_before(w, t);
	if (unlikely(t->meta != TASK_BORROWED))
		return sn_run_task_packed(w, t);
	t->run(t->argument);
	w = sn_self;
	sn_run_task_after(w);
	sn_task_count_end(w, TASK_BORROWED);
	return w;
}

/* --- upkeep --------------------------------------------------------------- */

/* The work that a worker does every WORKER_UPKEEP dispatches, more often if
 * they take long, however busy it is: inboxes, timers, its CPU slot, the check
 * whether it drains, memory, background tasks, the turn of its oldest task.
 *
 * So none of these starves. A dispatch is the start of a task or the resumption
 * of a fiber. Code that runs a task without the loop counts the dispatch here.
 */

/* Do what is due, and reset the count. Returns whether it is a task's turn. */
NOINLINE bool sn_upkeep(struct worker *w);

/* Record the number of fibers of w that wait. Called when they may be many. */
void sn_upkeep_note_peak(struct worker *w);

/* Count a dispatch. Returns true if it is a task's turn. */
static ALWAYS_INLINE bool sn_upkeep_is_turn(struct worker *w)
{
	if (likely(!sn_run_queue_tick(&w->run)))
		return false;
	return sn_upkeep(w);
}

/* sn_upkeep_tick() when the upkeep is due. */
bool sn_upkeep_tick_due(struct worker *w);

/* The upkeep is due. Leave it out if nobody would get a turn by it: then only
 * what is not urgent is late, by WORKER_SKIPS upkeeps. Returns whether it was
 * left out. */
bool sn_upkeep_skip(struct worker *w);

/* A fiber is about to run a task itself: count a dispatch, and do the upkeep
 * that is due. Returns false if the loop must run next, on another stack. */
static inline bool sn_upkeep_tick(struct worker *w)
{
	if (unlikely(sn_run_queue_is_due(&w->run)))
		return sn_upkeep_tick_due(w);
	sn_run_queue_tick(&w->run);
	return true;
}

/* The same. If it returns false, the loop's next turn does the upkeep, and
 * counts that dispatch itself. */
static ALWAYS_INLINE bool sn_upkeep_tick_for_loop(struct worker *w)
{
	if (likely(sn_upkeep_tick(w)))
		return true;
	sn_run_queue_due_in(&w->run, 1);
	return false;
}

/* --- idle ----------------------------------------------------------------- */

/* What a worker does without work: it spins, then parks.
 *
 *	search --found--> work
 *	   |  ^
 *	   v  | woken, or work appeared at the last look
 *	announce, look again, leave the gate, sleep, enter the gate
 *
 * With a CPU budget (slots.h) a worker gives its slot back after it has left
 * the gate, and takes one before it enters the gate again.
 *
 * The first sleep of an idle worker lasts at most FIRST_NAP, because a worker's
 * push onto its own deque has no fence, so the last look may have missed it.
 * The process barrier after that sleep makes such pushes visible. Later sleeps
 * end only by a wake or a deadline.
 */

/* Wait until w has a fiber to resume or a task to start. May return spuriously.
 * Returns false if the worker's thread must leave: the scheduler has ended, or
 * w is draining and has nothing left to do. */
SENNIT_MUST_USE bool sn_idle(struct worker *w);

/* Wait until w has a fiber to resume, or until the time `until`, even if there
 * are tasks. For bound threads, whose tasks can only come from themselves, and
 * for workers that cannot get a stack for a task. */
void sn_idle_for_fiber(struct worker *w, sennit_time until);

/* --- longjmp check -------------------------------------------------------- */

/* Detects a task that was left by longjmp().
 *
 * After a jump from a task to another stack of this thread, or from the
 * thread's own stack into a task, the wrong fiber counts as running. Its next
 * wait would save one stack as another. The stack pointer is compared with the
 * running fiber's stack where a fiber is left without hurry, where there is
 * nothing to run after a task, and where a thread unbinds. Jumps within a stack
 * are allowed, and so are stacks of the program, for example a coroutine on
 * which a task waits.
 */

/* Within this distance of the last address that was seen on the thread's own
 * stack, no lookup is made. */
#define ASTRAY_NEAR ((uintptr_t)32 * 1024)

/* Abort if the address lies on another fiber's stack or on the thread's own
 * stack. */
COLD void sn_longjmp_found(struct worker *w, uintptr_t here);

/* Abort if the address lies on any fiber's stack although the thread's own
 * stack counts as running. Otherwise remember the address. */
void sn_astray_home(struct worker *w, uintptr_t here);

/* A thread that had no worker is on its own stack. */
static ALWAYS_INLINE void sn_longjmp_begin(struct worker *w)
{
	w->last_seen_at = (uintptr_t)__builtin_frame_address(0);
}

/* Call this on the stack of the running fiber. The bounds of a thread's own
 * stack are unknown, so the address is looked up among the fibers' stacks. */
static ALWAYS_INLINE void sn_longjmp_check(struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;
	const uintptr_t            here = (uintptr_t)__builtin_frame_address(0);

	if (f == &w->main) {
		if (unlikely(here - w->last_seen_at + ASTRAY_NEAR >=
			     2 * ASTRAY_NEAR))
			sn_astray_home(w, here);
	} else if (unlikely(!sn_fiber_holds(f, here))) {
		sn_longjmp_found(w, here);
	}
}

#endif
