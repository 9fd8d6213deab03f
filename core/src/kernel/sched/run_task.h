/* SPDX-License-Identifier: Apache-2.0 */
/* run_task.h - a task from its start to its end, and what ends with it.
 */
#ifndef SN_RUN_TASK_H
#define SN_RUN_TASK_H

#include "life/end.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/worker.h"

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
	sn_fiber_state_begin(&w->home.current->state, t);
	sn_hook_task_begin(w, t);
}

/* A task that ran on w has ended, and so has all that belongs to it. `outer` is
 * of sn_race_begin(). The end of the scheduler, and that of the thread's
 * binding, come after it. */
static inline void sn_race_end_task(const struct worker *w, void *outer)
{
	sn_race_release(w);
	sn_race_release(w->scheduler);
	sn_race_end(outer, w->home.current->low);
	(void)w;
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
	void *outer;

	sn_run_task_before(w, t);
	if (unlikely(t->meta != TASK_BORROWED))
		return sn_run_task_packed(w, t);
	outer = sn_race_begin(t->sent, w->home.current->low);
	t->run(t->argument);
	w = sn_self;
	sn_run_task_after(w);
	sn_race_end_task(w, outer);
	sn_task_count_end(w, TASK_BORROWED);
	return w;
}

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
	uint32_t       held;
	struct locals *locals;
	char           name[SENNIT_TASK_NAME_SIZE];
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

#endif
