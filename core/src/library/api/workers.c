/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - the calls of sennit/workers.h: views of workers, and the list of
 * schedulers. */
#include "life/bind.h"
#include "life/fork.h"
#include "life/worker_threads.h"
#include "observe/depth.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/idle.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "sennit/workers.h"

/* A worker without thread, or that sleeps for its own fibers alone, need not be
 * idle by its own account. */
static uint32_t worker_state_of(const struct worker *w)
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

static void view_worker(struct worker *w,
			void (*visit)(void *, const sennit_worker_view *),
			void *context)
{
	struct counters_sum done = { .tasks = 0 };
	bool                exact;
	sennit_worker_view  view = {
		 .size = sizeof(view),
		 .worker = w->index,
		 .thread = sn_thread_number(&w->thread),
		 .state = worker_state_of(w),
		 .fibers = sn_counters_blocked(&w->counters),
		 .idle_ns = sn_idle_time(&w->idle, os_now()),
	};

	view.queued = sn_worker_queued(w, &exact);
	view.exact = exact;
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
			view_worker(s->workers[i], visit, context);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		view_worker(sn_worker_bound(b), visit, context);
	pthread_mutex_unlock(&s->bound.lock);
}

size_t sennit_schedulers_get(sennit_scheduler *out[], size_t size)
{
	return sn_scheduler_list_retain(out, size);
}
