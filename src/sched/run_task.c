/* SPDX-License-Identifier: Apache-2.0 */

#include "life/domain.h"
#include "life/end.h"
#include "life/life.h"
#include "observe/observe.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "stack/stack.h"
#include "wait/wait_group.h"
#include "wait/group.h"

static NOINLINE void clean(struct worker *w)
{
	struct sennit_fiber *f = w->home.current;
	uintptr_t task = (uintptr_t)sn_fiber_state_get_task(&f->state);

	if (f->cleanup & CLEANUP_OBSERVED && sn_worker_is_traced(w))
		sn_trace_running(w); /* while it still has its name */
	sn_task_cleanup_run(f);
	if (!(f->cleanup & CLEANUP_FP_SHARED))
		arch_fp_set_control(w->home.fp_control);
	if (f->cleanup & CLEANUP_OBSERVED)
		sn_observe_end(w, task);
}

void sn_run_task_clean(struct worker *w)
{
	if (!sn_observe_pass_end(w))
		clean(w);
	else if (!w->home.fp_shared)
		arch_fp_set_control(w->home.fp_control);
}

/* Take the newest own task if it belongs to *d and the loop would take it next.
 * A task with a large copied argument is left to the loop. */
static ALWAYS_INLINE bool take_next_of(const struct sennit_domain *d,
				       struct worker *w, struct task *t)
{
	return sn_worker_wants_newest(w) && sn_upkeep_tick_for_loop(w) &&
	       sn_deque_pop_if(sn_worker_deque(w), ~TASK_BLOCK, (uintptr_t)d,
			       t);
}

/* By value, so that the loop below keeps its task in registers. */
static NOINLINE void observe_next(struct worker *w, sennit_task_fn *run,
				  void *argument)
{
	const struct task t = TASK(run, argument, TASK_BORROWED);

	sn_observe_begin(w, &t);
}

/* Run a task of a domain, and its next tasks if they belong to the same domain:
 * see life/domain.h. */
static NOINLINE struct worker *run_in_domain(struct worker     *w,
					     const struct task *first)
{
	struct sennit_domain *d = sn_task_domain(first->meta);
	struct domain_part   *part = sn_domain_part(d, w);
	struct task           t = TASK_AGAIN(first);
	void                 *outer;

	sn_domain_enter(d, part);
	sn_fiber_set_scope(w->home.current, &d->scope);
	for (;;) {
		outer = sn_race_begin(t.sent, w->home.current->low);
		t.run(t.argument);
		w = sn_self;
		sn_run_task_after(w);
		if (unlikely(t.meta & TASK_OWNED))
			sn_worker_discard(w, t.argument, t.meta);
		sn_race_release(d);
		sn_race_end_task(w, outer);
		sn_domain_count(d, part, -1);
		if (!take_next_of(d, w, &t))
			break;
		sn_fiber_state_begin(&w->home.current->state, &t);
		if (unlikely(w->home.observed))
			observe_next(w, t.run, t.argument);
	}
	sn_fiber_set_scope(w->home.current, NULL);
	sn_domain_leave(d, part);
	return w;
}

/* Run a task that is tied to a wait group. Its waiters may free the group as
 * soon as the task has been counted off. */
static NOINLINE struct worker *run_tied(struct worker *w, const struct task *t)
{
	uintptr_t meta = t->meta;
	void     *outer;

	outer = sn_race_begin(t->sent, w->home.current->low);
	t->run(t->argument);
	w = sn_self;
	sn_run_task_after(w);
	sn_wait_group_done(sn_task_wait_group(meta));
	sn_race_end_task(w, outer);
	sn_task_count_end(w, meta);
	return w;
}

/* Run a member of a group, or a task with a copied argument. The copy is freed
 * before the group is informed of the end, because the copy may contain the
 * group. */
NOINLINE struct worker *sn_run_task_packed(struct worker     *w,
					   const struct task *t)
{
	sennit_group *g = NULL;
	void         *argument = t->argument;
	uintptr_t     meta = t->meta;
	int           error = 0;
	void         *outer;

	if (meta & TASK_MEMBER) {
		if (unlikely(meta & TASK_INSIDE) && sn_task_is_tied(meta))
			return run_tied(w, t);
		g = sn_task_group(meta);
		sn_fiber_set_scope(w->home.current, &g->scope_);
		outer = sn_race_begin(t->sent, w->home.current->low);
		error = sn_task_member_fn(t->run)(argument);
	} else {
		if ((meta & TASK_TAG) == TASK_INSIDE)
			sn_fiber_set_scope(w->home.current,
					   sn_task_scope(meta));
		else if (meta > TASK_TAG)
			return run_in_domain(w, t);
		outer = sn_race_begin(t->sent, w->home.current->low);
		t->run(argument);
	}
	w = sn_self;
	sn_run_task_after(w);
	sn_fiber_set_scope(w->home.current, NULL);
	if (unlikely(meta & TASK_OWNED)) /* most members own nothing: no call */
		sn_worker_discard(w, argument, meta);
	if (g)
		sn_group_end(g, w, error);
	sn_race_end_task(w, outer);
	if (!g)
		sn_task_count_end(w, meta);
	return w;
}

/* --- task cleanup --------------------------------------------------------- */

/* Clears the task that reports show, because the end of a DAG's node is not the
 * end of the task that runs it. */
static void measure(struct sennit_fiber *f)
{
	struct stack_depths *d = sn_worker_of(f)->scheduler->depths;
	uintptr_t task = (uintptr_t)sn_fiber_state_get_task(&f->state);

	if (task)
		sn_stack_depth_note(d, task, sn_fiber_depth(f));
	sn_fiber_state_set_task(&f->state, NULL);
}

static void must_hold_nothing(const struct sennit_fiber *f)
{
	MISUSE(f->cleanup >= CLEANUP_RWLOCK, "sennit_rwlock_lock",
	       "the task ended without unlocking it: the task that locks it "
	       "must unlock it");
	MISUSE(f->cleanup & CLEANUP_HELD, "sennit_mutex_lock",
	       "the task ended without unlocking it: the task that locks it "
	       "must unlock it");
}

/* The name is removed last, because destructors of local values belong to the
 * task and may unlock what it has locked. */
void sn_task_cleanup_run(struct sennit_fiber *f)
{
	if (f->cleanup & CLEANUP_LOCALS)
		sn_task_local_end(f);
	must_hold_nothing(f);
	if (f->cleanup & CLEANUP_NAME)
		sn_task_name_write(&f->name, "");
	if (f->cleanup & CLEANUP_DEPTH)
		measure(f);
	f->cleanup &= CLEANUP_STAYS;
}

/* The values of a thread stay where the child of a fork looks for them. */
static bool is_threads(const struct sennit_fiber *f)
{
	return f == &sn_worker_of(f)->main;
}

void sn_task_cleanup_save(struct sennit_fiber       *f,
			  struct task_cleanup_saved *aside)
{
	aside->cleanup = f->cleanup;
	f->cleanup &= CLEANUP_FP_SHARED;
	if (is_threads(f)) {
		sn_task_local_leave(sn_worker_of(f));
	} else {
		aside->locals = f->locals;
		f->locals = NULL;
	}
	if (aside->cleanup & CLEANUP_NAME) {
		CHECK(sn_task_name_read(&f->name, aside->name),
		      "a task's name was changed by another thread");
		sn_task_name_write(&f->name, "");
	}
}

void sn_task_cleanup_restore(struct sennit_fiber             *f,
			     const struct task_cleanup_saved *aside)
{
	f->cleanup = aside->cleanup;
	if (is_threads(f))
		sn_task_local_enter(sn_worker_of(f));
	else
		f->locals = aside->locals;
	if (aside->cleanup & CLEANUP_NAME)
		sn_task_name_write(&f->name, aside->name);
}

/* --- longjmp check -------------------------------------------------------- */

void sn_longjmp_found(struct worker *w, uintptr_t here)
{
	MISUSE(sn_stacks_contain(&w->scheduler->stacks, here) ||
		       os_thread_has_stack(here),
	       "longjmp",
	       "it left a task, whose fiber still counts as running, for "
	       "another "
	       "stack");
}

void sn_astray_on_thread(struct worker *w, uintptr_t here)
{
	MISUSE(sn_stacks_contain(&w->scheduler->stacks, here), "longjmp",
	       "it left the thread's own stack, which still counts as running, "
	       "for "
	       "a task's");
	w->last_seen_at = here;
}
