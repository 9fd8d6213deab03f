/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include "base/memory.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>

/* Timers that are due and fetched before they fire: some 100 ns of work each,
 * and a miss of caches and translations takes several times as long. */
#define FIRE_AHEAD 6

_Thread_local struct worker *sn_self;

static a_u32 serials; /* the last given, process-wide */

/* Where thieves begin: apart from each other, never 0. */
static uint32_t first_random(const struct worker *w)
{
#ifdef SENNIT_DETERMINISTIC
	(void)w;
	return sn_deterministic_random(UINT32_MAX) | 1;
#else
	return w->serial * 2654435761u | 1;
#endif
}

static int make_queue(struct worker *w, bool threaded)
{
	const sennit_scheduler     *s = w->scheduler;
	const uint32_t              order = s->config.order;
	const struct run_queue_kind kind = {
		.threaded = threaded,
		.oldest_first = order == SENNIT_ORDER_OLDEST ||
				(order == SENNIT_ORDER_DEFAULT && !s->capacity),
		.asymmetric = s->asymmetric,
		.spread = s->config.placement == SENNIT_PLACEMENT_SPREAD,
	};

	return sn_run_queue_init(&w->run, &kind, &s->memory);
}

int sn_worker_make(struct worker **out, sennit_scheduler *s, uint32_t index)
{
	struct worker *w = sn_memory_take(&s->memory, sizeof(*w),
					  _Alignof(struct worker));
	bool           threaded = index != UINT32_MAX;
	int            err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->scheduler = s;
	w->threaded = threaded;
	w->index = index;
	w->last_victim = index;
	w->serial = a_add_rlx(&serials, 1) + 1;
	w->parking = &s->parking;
	a_init(&w->idle_now, threaded); /* until its thread has found work */
	w->spin_ns = s->config.spin_ns;
	w->trim_seen = a_load_rlx(&s->trims); /* it has nothing of before */
	a_init(&w->trimmed, w->trim_seen);
	w->random = first_random(w);
	sn_pool_cache_init(&w->cache, &s->pool);
	sn_timers_init(&w->timers, os_now());
	err = make_queue(w, threaded);
	if (err)
		goto free_worker;
	err = sn_tracebuffer_init(&w->trace, &s->memory,
				  threaded && s->config.trace_events
					  ? s->config.trace_events + 1
					  : 0);
	if (err)
		goto free_queue;
	a_init(&w->clock, os_now());
	pthread_mutex_init(&w->roster_lock, NULL);
	w->only[0] = &w->solo;
	sn_parking_init(&w->alone, w->only, 1);
	sn_sleeper_init(&w->solo, &w->alone, 0);
	w->backlog = threaded ? &s->backlog : &w->own;
	if (!threaded)
		sn_backlog_init(&w->own, &s->memory);
	if (threaded)
		sn_sleeper_init(&w->sleeper, &s->parking, index);
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

static void free_alarm(struct worker *w, struct sennit_fiber *f)
{
	if (f->alarm && f->alarm != &f->spare)
		sn_pool_give(&w->cache, f->alarm);
	f->alarm = NULL;
}

static void join_roster(struct worker *w, struct sennit_fiber *f)
{
	os_lock(&w->roster_lock);
	sn_link_join(&w->roster, &f->roster);
	pthread_mutex_unlock(&w->roster_lock);
	a_store_rlx(&w->stacks, a_load_rlx(&w->stacks) + 1); /* a number */
}

static void leave_roster(struct worker *w, struct sennit_fiber *f)
{
	os_lock(&w->roster_lock);
	sn_link_leave(&w->roster, &f->roster);
	pthread_mutex_unlock(&w->roster_lock);
	a_store_rlx(&w->stacks, a_load_rlx(&w->stacks) - 1); /* a number */
}

/* Take the idle stack of f away from w. */
static void *strip(struct worker *w, struct node *idle)
{
	struct sennit_fiber *f = container_of(idle, struct sennit_fiber, link);
	void                *low = f->low;

	leave_roster(w, f);
	free_alarm(w, f);
	sn_fiber_forget(f, sn_stacks_usable(&w->scheduler->stacks));
	return low;
}

uint32_t sn_worker_return_stacks(struct worker *w, uint32_t keep, uint32_t most)
{
	struct node **at = &w->idle;
	void         *low[STACK_BATCH];
	uint32_t      n = 0;

	ASSERT_OWNER(w);
	for (; *at && keep; keep--)
		at = &(*at)->next;
	while (*at && n < most) {
		struct node *idle = *at;

		*at = idle->next;
		low[n++] = strip(w, idle);
	}
	if (n)
		sn_stacks_return(&w->scheduler->stacks, low, n);
	return n;
}

/* Give the idle stack of f back. */
static void give_back(struct worker *w, struct node *idle)
{
	void *low = strip(w, idle);

	sn_stacks_give(&w->scheduler->stacks, &low, 1);
}

/* All idle ones from *at on. */
static void give_from(struct worker *w, struct node **at)
{
	while (*at) {
		struct node *idle = *at;

		*at = idle->next;
		give_back(w, idle);
	}
}

void sn_worker_share_stacks(struct worker *w)
{
	if (w->scheduler->config.max_fibers && w->idle)
		give_from(w, &w->idle->next);
}

void sn_worker_free(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	give_from(w, &w->idle);
	free_alarm(w, &w->main);
	if (w->first_stack)
		sn_stacks_drop_aside(&s->stacks);
	sn_pool_cache_drain(&w->cache);
	sn_run_queue_free(&w->run);
	sn_tracebuffer_free(&w->trace, &s->memory);
	if (!w->threaded)
		sn_backlog_free(&w->own);
	pthread_mutex_destroy(&w->roster_lock);
	sn_memory_give(&s->memory, w, sizeof(*w));
}

void sn_worker_enter(struct worker *w)
{
	w->home.fp_control = arch_fp_control();
	w->home.fp_shared = w->scheduler->config.fp == SENNIT_FP_SHARED;
	w->home.cxx = sn_cxx_globals();
	w->error = &errno;
	/* Reports print it, alone: nothing else is reached through it. */
	a_store_rlx(&w->thread_id, os_thread_id());
	sn_fiber_adopt_thread(&w->main, &w->home);
	w->home.current = &w->main;
	sn_self = w;
}

static struct sennit_fiber *make_fiber(struct worker *w, void *low)
{
	struct stacks       *stacks = &w->scheduler->stacks;
	struct sennit_fiber *f;

	f = sn_fiber_make(low, sn_stacks_usable(stacks), stacks->slabs.pitch,
			  &w->home, ++w->fiber_ids);
	f->canary = sn_stack_has_canary(stacks, low);
	f->in_care = f->canary ||
		     (!w->threaded && w->scheduler->config.max_fibers);
	if (w->scheduler->depths)
		sn_fiber_measure(f);
	join_roster(w, f);
	return f;
}

struct sennit_fiber *sn_worker_new_stack(struct worker *w)
{
	void *low;

	if (!sn_stacks_take(&w->scheduler->stacks, &low, 1))
		return NULL;
	return make_fiber(w, low);
}

bool sn_worker_add_stack(struct worker *w)
{
	struct sennit_fiber *f = sn_worker_new_stack(w);

	if (!f)
		return false;
	f->link.next = w->idle;
	w->idle = &f->link;
	return true;
}

struct sennit_fiber *sn_worker_first_stack(struct worker *w)
{
	void *bottom = w->first_stack;

	if (!bottom) /* left ones keep theirs */
		return sn_worker_idle_stack(w);
	w->first_stack = NULL;
	return make_fiber(w,
			  sn_stacks_take_aside(&w->scheduler->stacks, bottom));
}

void sn_worker_end_unguarded(struct worker *w, struct sennit_fiber *f)
{
	sn_stack_check(&w->scheduler->stacks, f->low);
	if (!w->threaded && w->scheduler->config.max_fibers)
		give_from(w, &w->idle);
}

uint32_t sn_worker_take_parcels(struct worker *w, struct inbox *from,
				uint32_t parts)
{
	const struct parcels_to to = { sn_worker_deque(w), &w->cache,
				       sn_run_queue_is_oldest_first(&w->run) };

	return sn_task_inbox_take(from, &to, parts);
}

void sn_worker_collect(struct worker *w)
{
	struct node *last;
	struct node *first = sn_inbox_take(&w->fibers, &last);

	if (first)
		sn_run_queue_ready_all(&w->run, first, last);
	/* A closed one's are handed on: see worker_threads.h. */
	if (sn_run_queue_is_draining(&w->run) ||
	    sn_inbox_is_empty(&w->tasks_in) ||
	    !sn_worker_take_parcels(w, &w->tasks_in, 1))
		return;
	/* On their way they were in no queue: whoever looked for them meanwhile
	 * may have gone to sleep. */
	a_fence(); /* <-> park.sleep: pushed, before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}

/* Each waiter lies on a page of its own, each record on another, in no cache.
 * Returns the timer after this one. */
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
		/* Only who waits may be timed out: a signaller that was first
		 * wakes it. -> wait.claim <- wait.claim */
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
		sn_parking_wake(&w->solo);
		return;
	}
	sn_parking_wake(&w->sleeper);
	/* Counted before it announced: zero after our fence means that it looks
	 * at its inbox after ours. */
	if (unlikely(a_load_rlx(&w->alone.counts)))
		sn_parking_wake(&w->solo);
}
