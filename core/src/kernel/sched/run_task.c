/* SPDX-License-Identifier: Apache-2.0 */

#include "group/domain.h"
#include "life/end.h"
#include "local/locals.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "stack/stack.h"
#include "group/wait_group.h"
#include "group/group.h"

static NOINLINE void clean(struct worker *w)
{
	struct sennit_fiber *f = w->home.current;
	uintptr_t task = (uintptr_t)sn_fiber_state_get_task(&f->state);

	sn_hook_task_ending(w);
	sn_task_cleanup_run(f);
	if (!(f->cleanup & CLEANUP_FP_SHARED))
		arch_fp_set_control(w->home.fp_control);
	sn_hook_task_end(w, task);
}

void sn_run_task_clean(struct worker *w)
{
	if (!sn_hook_task_passes(w))
		clean(w);
	else if (!w->home.fp_shared)
		arch_fp_set_control(w->home.fp_control);
}

/* Run a task that is tied to a wait group. Its waiters may free the group as
 * soon as the task has been counted off. */
static NOINLINE struct worker *run_tied_task(struct worker     *w,
					     const struct task *t)
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
			return run_tied_task(w, t);
		g = sn_task_group(meta);
		sn_fiber_set_scope(w->home.current, &g->scope_);
		outer = sn_race_begin(t->sent, w->home.current->low);
		error = sn_task_member_fn(t->run)(argument);
	} else {
		if ((meta & TASK_TAG) == TASK_INSIDE)
			sn_fiber_set_scope(w->home.current,
					   sn_task_scope(meta));
		else if (meta > TASK_TAG)
			return sn_domain_run(w, t);
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

static void must_hold_nothing(const struct sennit_fiber *f)
{
	MISUSE(f->cleanup >= CLEANUP_GROUP, "sennit_group_init",
	       "the task ended without waiting for the group: the task that "
	       "opens it must wait for it");
	MISUSE(f->held >= HELD_RWLOCK, "sennit_rwlock_lock",
	       "the task ended without unlocking it: the task that locks it "
	       "must unlock it");
	MISUSE(f->held, "sennit_mutex_lock",
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
	sn_hook_task_depth(f);
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
	aside->held = f->held;
	f->cleanup &= CLEANUP_FP_SHARED;
	f->held = 0;
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
	f->held = aside->held;
	if (is_threads(f))
		sn_task_local_enter(sn_worker_of(f));
	else
		f->locals = aside->locals;
	if (aside->cleanup & CLEANUP_NAME)
		sn_task_name_write(&f->name, aside->name);
}
