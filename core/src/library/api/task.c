/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - the calls of sennit/task.h: schedule, enqueue. */
#include "local/names.h"
#include "base/memory.h"
#include "group/domain.h"
#include "group/submit.h"
#include "life/fork.h"
#include "sched/fiber.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sennit/task.h"

#include <errno.h>

/* The bound scheduler. `call` names the public call. */
static sennit_scheduler *bound_scheduler(const char *call)
{
	MISUSE(!sn_self, call, "no scheduler is bound to this thread");
	return sn_self->scheduler;
}

/* Schedule on the bound scheduler, in the caller's domain. */
static int schedule_on_bound(const sennit_task *task, const char *call)
{
	sennit_scheduler *s = bound_scheduler(call);

	return sn_submit(s, sn_domain_current(sn_self), task, call);
}

/* A function of its own, so that the fast path needs no stack frame. */
static NOINLINE int schedule_elsewhere(sennit_task_fn *run, void *argument)
{
	const char           *call = "sennit_schedule";
	sennit_scheduler     *s = bound_scheduler(call);
	const struct task     t = TASK(run, argument, TASK_BORROWED);
	struct sennit_domain *d;

	if (!run)
		return -EINVAL;
	d = sn_domain_current(sn_self);
	return d ? sn_submit_in(s, d, t, 0, call) : sn_place(s, t, 0, call);
}

/* For a caller in a cancel scope, which may lie in a domain. */
static NOINLINE int schedule_inside(struct worker *w, sennit_task_fn *run,
				    void *argument)
{
	struct sennit_domain *d = sn_domain_current(w);

	sn_domain_count_sent(d, w);
	return sn_place_own(w, TASK(run, argument, (uintptr_t)d));
}

int sennit_schedule(sennit_task_fn *run, void *argument)
{
	struct worker *w = sn_self;

	SPAWN_CALL();
	if (unlikely(!w || !w->run.pushes ||
		     !sn_deque_has_room(sn_worker_deque(w)) || !run))
		return schedule_elsewhere(run, argument);
	if (unlikely(sn_fiber_scope(w->home.current)))
		return schedule_inside(w, run, argument);
	return sn_place_own(w, TASK(run, argument, TASK_BORROWED));
}

int sennit_schedule_copy(sennit_task_fn *run, const void *arguments,
			 size_t size)
{
	const sennit_task task = { .run = run,
				   .argument = (void *)(uintptr_t)arguments,
				   .copy_size = size };

	SPAWN_CALL();
	return schedule_on_bound(&task, "sennit_schedule_copy");
}

int sennit_schedule_task(const sennit_task *task)
{
	SPAWN_CALL();
	return schedule_on_bound(task, "sennit_schedule_task");
}

int sennit_schedule_copy_on(sennit_scheduler *s, sennit_task_fn *run,
			    const void *arguments, size_t size)
{
	const sennit_task task = { .run = run,
				   .argument = (void *)(uintptr_t)arguments,
				   .copy_size = size };

	SPAWN_CALL();
	MISUSE_INHERITED(s, "sennit_schedule_copy_on");
	return sn_submit(s, NULL, &task, "sennit_schedule_copy_on");
}

int sennit_schedule_on(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	const sennit_task task = { .run = run, .argument = argument };

	SPAWN_CALL();
	MISUSE_INHERITED(s, "sennit_schedule_on");
	return sn_submit(s, NULL, &task, "sennit_schedule_on");
}

int sennit_schedule_task_on(sennit_scheduler *s, const sennit_task *task)
{
	SPAWN_CALL();
	MISUSE_INHERITED(s, "sennit_schedule_task_on");
	return sn_submit(s, NULL, task, "sennit_schedule_task_on");
}

int sennit_schedule_many(const sennit_task *tasks, size_t count)
{
	sennit_scheduler *s = bound_scheduler("sennit_schedule_many");

	SPAWN_CALL();
	return sn_submit_many(s, sn_domain_current(sn_self), tasks, count,
			      "sennit_schedule_many");
}

int sennit_schedule_many_on(sennit_scheduler *s, const sennit_task *tasks,
			    size_t count)
{
	SPAWN_CALL();
	MISUSE_INHERITED(s, "sennit_schedule_many_on");
	return sn_submit_many(s, NULL, tasks, count, "sennit_schedule_many_on");
}

int sennit_function_set_name(sennit_task_fn *run, const char *name)
{
	if (!run)
		return -EINVAL;
	return sn_task_names_set(run, name) ? 0 : -ENOSPC;
}

const char *sennit_function_name(sennit_task_fn *run)
{
	return sn_task_names_get(run);
}

/* --- arguments built in place ------------------------------------------- */

static sennit_scheduler *named_or_bound_scheduler(sennit_scheduler *s,
						  const char       *call)
{
	if (!s)
		return bound_scheduler(call);
	MISUSE_INHERITED(s, call);
	return s;
}

void *sennit_argument_alloc(sennit_scheduler *s, size_t size)
{
	void *block;

	s = named_or_bound_scheduler(s, "sennit_argument_alloc");
	if (size > POOL_BLOCK)
		return s->memory.allocate(s->memory.context, size, 16);
	block = sn_place_take_block(s);
	if (block)
		sn_race_fresh(block, size);
	return block;
}

void sennit_argument_free(sennit_scheduler *s, void *argument, size_t size)
{
	s = named_or_bound_scheduler(s, "sennit_argument_free");
	if (size > POOL_BLOCK)
		sn_memory_give(&s->memory, argument, size);
	else
		sn_place_give_block(s, argument);
}
