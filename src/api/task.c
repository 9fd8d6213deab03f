/* SPDX-License-Identifier: Apache-2.0 */
#include "core/names.h"
#include "life/domain.h"
#include "life/life.h"
#include "sched/fiber.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sennit/local.h"
#include "sennit/task.h"

#include <errno.h>

/* The bound scheduler. `call` names the public call. */
static sennit_scheduler *bound(const char *call)
{
	MISUSE(!sn_self, call, "no scheduler is bound to this thread");
	return sn_self->scheduler;
}

/* Schedule on the bound scheduler, in the caller's domain. */
static int schedule(const sennit_task *task, const char *call)
{
	sennit_scheduler *s = bound(call);

	return sn_place_packed(s, sn_domain_current(sn_self), task, call);
}

/* A function of its own, so that the fast path needs no stack frame. */
static NOINLINE int schedule_elsewhere(sennit_task_fn *run, void *argument)
{
	const char       *call = "sennit_schedule";
	sennit_scheduler *s = bound(call);

	if (!run)
		return -EINVAL;
	return sn_place_in(s, sn_domain_current(sn_self),
			   TASK(run, argument, TASK_BORROWED), 0, call);
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
	return schedule(&task, "sennit_schedule_copy");
}

int sennit_schedule_task(const sennit_task *task)
{
	SPAWN_CALL();
	return schedule(task, "sennit_schedule_task");
}

int sennit_schedule_on(sennit_scheduler *s, const sennit_task *task)
{
	SPAWN_CALL();
	MISUSE_INHERITED(s, "sennit_schedule_on");
	return sn_place_packed(s, NULL, task, "sennit_schedule_on");
}

int sennit_schedule_many(const sennit_task *tasks, size_t count)
{
	sennit_scheduler *s = bound("sennit_schedule_many");

	SPAWN_CALL();
	return sn_batch_place(s, sn_domain_current(sn_self), tasks, count,
			      "sennit_schedule_many");
}

int sennit_schedule_many_on(sennit_scheduler *s, const sennit_task *tasks,
			    size_t count)
{
	SPAWN_CALL();
	MISUSE_INHERITED(s, "sennit_schedule_many_on");
	return sn_batch_place(s, NULL, tasks, count, "sennit_schedule_many_on");
}

int sennit_task_set_name(sennit_task_fn *run, const char *name)
{
	if (!run)
		return -EINVAL;
	return sn_task_names_set(run, name) ? 0 : -ENOSPC;
}

const char *sennit_task_name(sennit_task_fn *run)
{
	return sn_task_names_get(run);
}

/* --- arguments built in place ------------------------------------------- */

static sennit_scheduler *named(sennit_scheduler *s, const char *call)
{
	if (!s)
		return bound(call);
	MISUSE_INHERITED(s, call);
	return s;
}

void *sennit_argument_alloc(sennit_scheduler *s, size_t size)
{
	return sn_place_take(named(s, "sennit_argument_alloc"), size);
}

void sennit_argument_free(sennit_scheduler *s, void *argument, size_t size)
{
	sn_place_give(named(s, "sennit_argument_free"), argument, size);
}

/* --- local ---------------------------------------------------------------- */

int sennit_local_key_create(sennit_local_key *key,
			    void (*destructor)(void *value))
{
	return sn_local_keys_add(key, destructor) ? 0 : -EAGAIN;
}

void sennit_local_key_delete(sennit_local_key key)
{
	MISUSE(!sn_local_keys_remove(key), "sennit_local_key_delete",
	       "there is no such key");
}

void *sennit_local_get(sennit_local_key key)
{
	const struct local *l = sn_task_local_find(*sn_task_local_mine(), key);

	return l && l->generation == key.generation_ ? l->value : NULL;
}

int sennit_local_set(sennit_local_key key, void *value)
{
	struct local *l = sn_task_local_find(*sn_task_local_mine(), key);

	MISUSE(!sn_local_keys_has(key), "sennit_local_set",
	       "there is no such key");
	if (!l && !value)
		return 0;
	if (!l)
		l = sn_task_local_make(key);
	if (!l)
		return -ENOMEM;
	l->value = value;
	l->generation = key.generation_;
	return 0;
}
