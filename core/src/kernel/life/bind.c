/* SPDX-License-Identifier: Apache-2.0 */
#include "life/bind.h"
#include "life/fork.h"
#include "sched/mailbox.h"
#include "sched/worker_stacks.h"
#include "trim/trim.h"
#include "local/locals.h"

#include "life/end.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/worker.h"

#include <errno.h>

/* If no other thread can ever run a task of s, this worker needs a stack for
 * them. Later, in the middle of a wait, there is nobody to report the lack
 * to. */
static int take_first_stack(struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;

	if (s->capacity || sn_worker_stacks_add(w) || s->config.max_fibers)
		return 0;
	return -ENOMEM;
}

int sn_bind(sennit_scheduler *s)
{
	struct worker *w;
	int            err;

	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	err = sn_worker_make_bound(&w, s);
	if (err)
		goto release;
	w->roster.hidden = true;
	err = take_first_stack(w);
	if (!err)
		err = sn_fork_exit_watch(w);
	if (err)
		goto free_worker;
	w->thread.id = pthread_self();
	sn_worker_enter(w);
	sn_longjmp_begin(w);
	sn_task_local_enter(w);
	w->roster.hidden = false;
	sn_bound_join(&s->bound, &w->binding);
	sn_hook_bind(w);
	return 0;

free_worker:
	sn_worker_stacks_free(w);
	sn_worker_free(w);
release:
	sn_end_release(s);
	return err;
}

/* A thread that woke the worker's last fiber may still be in that call, for a
 * few instructions. */
static void wait_for_callers(struct worker *w)
{
	for (uint32_t i = 0; sn_mailbox_is_held(&w->mail); i++)
		os_thread_give_way(i);
}

void sn_unbind(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	sn_loop_run_dry(w);
	wait_for_callers(w);
	sn_trim_leave(w, s->config.spare_stacks);
	os_lock(&s->bound.lock);
	sn_bound_leave(&s->bound, &w->binding, &w->counters);
	sn_hook_unbind(w);
	pthread_mutex_unlock(&s->bound.lock);
	w->roster.hidden = true;
	sn_task_local_leave(w);
	sn_self = NULL;
	sn_fork_exit_unwatch();
	sn_worker_stacks_free(w);
	sn_worker_free_bound(w);
	sn_end_release(s);
}
