/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include "base/memory.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>

/* The number of due timers whose memory is prefetched before they fire. A timer
 * takes about 100 ns of work; a miss in caches and TLB takes several times as
 * long. */
#define FIRE_AHEAD 6

_Thread_local struct worker *sn_self;

static a_u32 serials; /* the last one assigned in the process */

/* The initial state of a thief's random numbers: different per worker, never
 * 0. */
static uint32_t first_random(const struct worker *w)
{
#ifdef SENNIT_DETERMINISTIC
	(void)w;
	return sn_deterministic_random(UINT32_MAX) | 1;
#else
	return w->serial * 2654435761u | 1;
#endif
}

static int init_queue(struct worker *w)
{
	const sennit_scheduler     *s = w->scheduler;
	const uint32_t              order = s->config.order;
	const struct run_queue_kind kind = {
		.threaded = w->threaded,
		.oldest_first = order == SENNIT_ORDER_OLDEST ||
				(order == SENNIT_ORDER_DEFAULT && !s->capacity),
		.asymmetric = s->asymmetric,
		.spread = s->config.placement == SENNIT_PLACEMENT_SPREAD,
	};

	return sn_run_queue_init(&w->run, &kind, &s->memory);
}

static int init_trace(struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	uint32_t events = w->threaded ? s->config.trace_events : 0;

	return sn_tracebuffer_init(&w->trace, &s->memory,
				   events ? events + 1 : 0);
}

/* Initialise what differs between MTW and STW. */
static void init_kind(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	/* until its thread has found work */
	sn_mailbox_set_awaited(&w->mail, w->threaded);
	if (w->threaded) {
		w->backlog = &s->backlog;
		sn_sleeper_init(&w->sleeper, &s->parking, w->index);
	} else {
		w->backlog = &w->own;
		sn_backlog_init(&w->own, &s->memory);
	}
}

/* Initialise everything that cannot fail. The scheduler, the kind and the index
 * are set. */
static void init_parts(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	w->serial = a_add_rlx(&serials, 1) + 1;
	w->parking = &s->parking;
	sn_idle_init(&w->idle, s->config.spin_ns);
	sn_trim_init(&w->trim, &s->trim);
	sn_steal_init(&w->steal, first_random(w), w->index);
	sn_pool_cache_init(&w->cache, &s->pool);
	sn_timers_init(&w->timers, os_now());
	a_init(&w->clock, os_now());
	sn_roster_init(&w->roster);
	sn_fiber_parking_init(&w->alone);
	init_kind(w);
}

int sn_worker_make(struct worker **out, sennit_scheduler *s, uint32_t index)
{
	struct worker *w = sn_memory_take(&s->memory, sizeof(*w),
					  _Alignof(struct worker));
	int            err;

	if (!w)
		return -ENOMEM;
	w->scheduler = s;
	w->threaded = index != UINT32_MAX;
	w->index = index;
	err = init_queue(w);
	if (err)
		goto free_worker;
	err = init_trace(w);
	if (err)
		goto free_queue;
	init_parts(w);
	*out = w;
	return 0;

free_queue:
	sn_run_queue_free(&w->run);
free_worker:
	sn_memory_give(&s->memory, w, sizeof(*w));
	return err;
}

struct alarm *sn_worker_new_alarm(struct worker *w, struct sennit_fiber *f)
{
	f->alarm = sn_pool_take(&w->cache);
	if (!f->alarm)
		f->alarm = &f->spare;
	*f->alarm = (struct alarm){ .fiber = f };
	return f->alarm;
}

void sn_worker_drop_alarm(struct worker *w, struct sennit_fiber *f)
{
	if (f->alarm && f->alarm != &f->spare)
		sn_pool_give(&w->cache, f->alarm);
	f->alarm = NULL;
}

void sn_worker_free(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	ASSERT(sn_stack_cache_is_empty(&w->idle_stacks));
	sn_worker_drop_alarm(w, &w->main);
	sn_pool_cache_drain(&w->cache);
	sn_run_queue_free(&w->run);
	sn_tracebuffer_free(&w->trace, &s->memory);
	if (!w->threaded)
		sn_backlog_free(&w->own);
	sn_roster_free(&w->roster);
	sn_memory_give(&s->memory, w, sizeof(*w));
}

void sn_worker_enter(struct worker *w)
{
	w->home.fp_control = arch_fp_control();
	w->home.fp_shared = w->scheduler->config.fp == SENNIT_FP_SHARED;
	w->home.cxx = sn_cxx_globals();
	w->error = &errno;
	sn_thread_begin(&w->thread);
	sn_fiber_adopt_thread(&w->main, &w->home);
	w->home.current = &w->main;
	sn_self = w;
}

uint32_t sn_worker_take_parcels(struct worker *w, struct worker *from,
				uint32_t parts)
{
	const struct parcels_to to = { sn_worker_deque(w), &w->cache,
				       sn_run_queue_is_oldest_first(&w->run) };

	return sn_task_inbox_take(sn_mailbox_tasks(&from->mail), &to, parts);
}

void sn_worker_collect(struct worker *w)
{
	struct node *last;
	struct node *first = sn_mailbox_take_fibers(&w->mail, &last);

	if (first)
		sn_run_queue_ready_all(&w->run, first, last);
	/* A closed worker's tasks are passed on: see worker_threads.h. */
	if (sn_run_queue_is_draining(&w->run) ||
	    !sn_mailbox_has_tasks(&w->mail) || !sn_worker_take_parcels(w, w, 1))
		return;
	/* In between the tasks were in no queue. A worker that looked for them
	 * meanwhile may have gone to sleep. */
	a_fence(); /* <-> park.sleep: pushed, before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}

/* Each waiter lies on a page of its own, each record on another, and none is in
 * a cache. Returns the timer after this one. */
static inline struct timer *fetch_ahead(struct timer *t)
{
	const struct alarm *a;

	if (!t)
		return NULL;
	a = container_of(t, struct alarm, timer);
	__builtin_prefetch(&a->waiter->claim, 1);
	__builtin_prefetch(a->fiber, 1);
	return t->next;
}

bool sn_worker_fire(struct worker *w, sennit_time now)
{
	struct timer *t;
	struct timer *ahead;
	bool          fired = false;

	sn_timers_expire(&w->timers, now, &t);
	ahead = t;
	for (int i = 0; i < FIRE_AHEAD; i++)
		ahead = fetch_ahead(ahead);
	while (t) {
		struct waiter *n = container_of(t, struct alarm, timer)->waiter;
		uint32_t       waiting = WAITER_WAITING;

		ahead = fetch_ahead(ahead);
		t = t->next;
		/* Only a wait that no one has claimed times out. If a signaller
		 * was first, it wakes the waiter. -> wait.claim <-
		 * wait.claim */
		if (a_cas_acqrel(&n->claim, &waiting, WAITER_TIMEDOUT)) {
			sn_fiber_state_ready(&n->fiber->state);
			sn_run_queue_ready(&w->run, n->fiber);
			fired = true;
		}
	}
	return fired;
}

void sn_worker_free_copy(sennit_scheduler *s, void *argument)
{
	struct task_copy *copy = (struct task_copy *)argument - 1;

	sn_memory_give(&s->memory, copy, copy->size);
}

void sn_worker_discard(struct worker *w, void *argument, uintptr_t meta)
{
	if ((meta & TASK_OWNED) == TASK_BLOCK)
		sn_pool_give(&w->cache, argument);
	else if ((meta & TASK_OWNED) == TASK_COPY)
		sn_worker_free_copy(w->scheduler, argument);
}

void sn_worker_wake(struct worker *w)
{
	if (!w->threaded) {
		sn_fiber_parking_wake(&w->alone);
		return;
	}
	sn_parking_wake(&w->sleeper);
	/* After the fence of the wake above. */
	if (unlikely(sn_fiber_parking_is_used(&w->alone)))
		sn_fiber_parking_wake(&w->alone);
}
