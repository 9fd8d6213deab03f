/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/task_cleanup.h"

#include "core/stack_depth.h"
#include "worker/task_local.h"

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
