/* SPDX-License-Identifier: Apache-2.0 */
#include "api/config.h"
#include "base/text.h"
#include "core/names.h"
#include "life/life.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "stack/stack.h"
#include "sennit/stack_use.h"
#include "sennit/workers.h"

#include <inttypes.h>

/* A worker without thread, or that sleeps for its own fibers alone, need not be
 * idle by its own account. */
static uint32_t state_of(const struct worker *w)
{
	if (w->threaded && !sn_thread_is_present(&w->thread))
		return SENNIT_WORKER_ABSENT; /* only a statistic */
	if (sn_parking_is_asleep(&w->own_parking.sleeper))
		return SENNIT_WORKER_ASLEEP;
	if (!sn_idle_is_idle(&w->idle))
		return SENNIT_WORKER_BUSY;
	return sn_parking_is_asleep(&w->sleeper) ? SENNIT_WORKER_ASLEEP
						 : SENNIT_WORKER_SEARCHING;
}

/* What others have left with a worker is a list that only who takes it may
 * walk: its blocks may go at any time. So it counts as one, and *exact becomes
 * 0. It is empty whenever the worker has looked into it, as it does at every
 * safe point. */
static uint32_t queued_at(struct worker *w, uint32_t *exact)
{
	bool left = !sn_inbox_is_empty(&w->mail.tasks);

	*exact = !left;
	return left + (w->threaded ? sn_deque_count(sn_worker_deque(w))
				   : sn_backlog_count(&w->own));
}

static void visit_worker(struct worker *w,
			 void (*visit)(void *, const sennit_worker_view *),
			 void *context)
{
	struct counters_sum done = { .tasks = 0 };
	sennit_worker_view  view = {
		 .size = sizeof(view),
		 .worker = w->index,
		 .thread = sn_thread_number(&w->thread),
		 .state = state_of(w),
		 .fibers = sn_counters_blocked(&w->counters),
		 .idle_ns = sn_idle_time(&w->idle, os_now()),
	};

	view.queued = queued_at(w, &view.exact);
	sn_counters_add(&done, &w->counters);
	view.tasks = done.tasks;
	view.steals = done.steals;
	view.blocks = done.blocks;
	view.parks = done.parks;
	visit(context, &view);
}

void sennit_workers_visit(sennit_scheduler *s,
			  void (*visit)(void                     *context,
					const sennit_worker_view *view),
			  void *context)
{
	struct binding *b = NULL;

	MISUSE_INHERITED(s, "sennit_workers_visit");
	for (uint32_t i = 0; i < s->capacity; i++)
		if (sn_thread_number(&s->workers[i]->thread))
			visit_worker(s->workers[i], visit, context);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		visit_worker(sn_worker_bound(b), visit, context);
	pthread_mutex_unlock(&s->bound.lock);
}

size_t sennit_schedulers_retain(sennit_scheduler *out[], size_t size)
{
	return sn_scheduler_list_retain(out, size);
}

/* --- stack use ------------------------------------------------------------ */

static size_t round_up(size_t bytes, size_t page)
{
	return (bytes + page - 1) / page * page;
}

/* The smallest stack_size that fits `deepest` bytes of frames. The part of a
 * stack that is not for frames is the same for every size. A group member that
 * runs on its opener's stack may find only half of that stack free. */
static size_t least_size(const sennit_scheduler *s, size_t deepest)
{
	size_t page = s->stacks.slabs.page;
	size_t all = round_up(s->config.stack_size, page);
	size_t room = sn_fiber_room(sn_stacks_usable(&s->stacks));
	size_t half = deepest > FIBER_MEMBER_STACK ? deepest : 0;
	size_t least = round_up(all - room + deepest + half, page);

	return least > CONFIG_STACK_MIN ? least : CONFIG_STACK_MIN;
}

void sennit_scheduler_stack_report(sennit_scheduler *s,
				   void (*visit)(void *context,
						 const sennit_stack_use *use),
				   void *context)
{
	MISUSE_INHERITED(s, "sennit_scheduler_stack_report");
	for (uint32_t i = 0; s->depths && i <= STACK_DEPTH_FUNCTIONS; i++) {
		const struct stack_depth *d = &s->depths->of[i];
		const uintptr_t           task = a_load_rlx(&d->function);
		sennit_stack_use          use = {
				 .size = sizeof(use),
				 .task = (sennit_task_fn *)task,
				 .tasks = a_load_rlx(&d->tasks),
				 .deepest = (size_t)a_load_rlx(&d->deepest),
		};

		if (!use.tasks)
			continue; /* or it is just being counted */
		use.name = sn_task_names_get(use.task);
		use.least = least_size(s, use.deepest);
		visit(context, &use);
	}
}

static void print_use(void *fd, const sennit_stack_use *use)
{
	char name[128] = "other functions";

	if (use->name)
		sn_escape(name, sizeof(name), use->name);
	else if (use->task)
		sn_report_function_name((uintptr_t)use->task, name,
					sizeof(name));
	os_print(*(const int *)fd,
		 "%8zu bytes at most in %" PRIu64 " tasks of %s: a stack of "
		 "%zu KiB is enough\n",
		 use->deepest, use->tasks, name, use->least / 1024);
}

void sennit_scheduler_print_stacks(sennit_scheduler *s, int fd)
{
	sennit_scheduler_stack_report(s, print_use, &fd);
}
