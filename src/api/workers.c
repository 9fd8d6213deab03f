/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/workers.h"

#include "os/os.h"
#include "worker/fork_exit.h"
#include "worker/scheduler_list.h"
#include "worker/worker.h"

/* A worker without thread, or that sleeps for its own fibers alone, need not be
 * idle by its own account. */
static uint32_t state_of(const struct worker *w)
{
	if (w->threaded && !sn_thread_is_present(&w->thread))
		return SENNIT_WORKER_ABSENT; /* only a statistic */
	if (sn_fiber_parking_is_asleep(&w->alone))
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
	bool left = sn_mailbox_has_tasks(&w->mail);

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
		 .fibers = sn_worker_blocked(w),
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
	sn_bound_lock(&s->bound);
	while ((b = sn_bound_next(&s->bound, b)))
		visit_worker(sn_worker_bound(b), visit, context);
	sn_bound_unlock(&s->bound);
}

size_t sennit_schedulers_retain(sennit_scheduler *out[], size_t size)
{
	return sn_scheduler_list_retain(out, size);
}
