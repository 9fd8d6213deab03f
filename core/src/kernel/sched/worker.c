/* SPDX-License-Identifier: Apache-2.0 */

#include "base/memory.h"
#include "base/race.h"
#include "base/torture.h"
#include "life/bind.h"
#include "trim/trim.h"
#include "life/worker_threads.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/idle.h"
#include "sched/loop.h"
#include "sched/mailbox.h"
#include "sched/poller.h"
#include "sched/run_queue.h"
#include "sched/steal.h"
#include "sched/worker.h"
#include "group/cancel.h"

#include <errno.h>
#include <stdio.h>

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

/* Beside workers a bound thread has only same-thread tasks, which run oldest
 * first in any order. */
static bool is_oldest_first(const struct worker *w)
{
	const sennit_scheduler *s = w->scheduler;
	const uint32_t          order = s->config.order;

	if (s->capacity && !w->threaded)
		return true;
	return order == SENNIT_ORDER_OLDEST ||
	       (order == SENNIT_ORDER_DEFAULT && !s->capacity);
}

static int init_queue(struct worker *w)
{
	const sennit_scheduler     *s = w->scheduler;
	const struct run_queue_kind kind = {
		.threaded = w->threaded,
		.oldest_first = is_oldest_first(w),
		.asymmetric = s->asymmetric,
		.spread = s->config.placement == SENNIT_PLACEMENT_SPREAD,
	};

	return sn_run_queue_init(&w->run, &kind, &s->memory);
}

/* Initialise what differs between threaded and bound workers. */
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
	sennit_time       now = os_now_coarse();

	w->serial = a_add_rlx(&serials, 1) + 1;
	w->parking = &s->parking;
	sn_idle_init(&w->idle, s->config.spin_ns);
	sn_trim_init(&w->trim, &s->trim);
	sn_steal_init(&w->steal, first_random(w), w->index);
	sn_pool_cache_init(&w->cache, &s->pool);
	w->timers.tick = now >> TIMERS_TICK_BITS;
	a_init(&w->clock, now);
	pthread_mutex_init(&w->roster.lock, NULL);
	sn_own_parking_init(&w->own_parking);
	sn_hook_worker_init(w);
	init_kind(w);
}

/* Make *w, which is zeroed, a worker. Frees w on an error. */
static int set_up(struct worker *w, sennit_scheduler *s, uint32_t index)
{
	int err;

	w->scheduler = s;
	w->threaded = index != UINT32_MAX;
	w->index = index;
	err = init_queue(w);
	if (err)
		sn_memory_give(&s->memory, w, sizeof(*w));
	else
		init_parts(w);
	return err;
}

static struct worker *allocate_worker(sennit_scheduler *s)
{
	return sn_memory_take(&s->memory, sizeof(struct worker),
			      _Alignof(struct worker));
}

int sn_worker_make(struct worker **out, sennit_scheduler *s, uint32_t index)
{
	struct worker *w = allocate_worker(s);
	int            err = w ? set_up(w, s, index) : -ENOMEM;

	if (!err)
		*out = w;
	return err;
}

/* Zero a spare worker, except for its timers: they are zeros, as none is armed,
 * and by far the largest part. */
static void clear_spare_worker(struct worker *w)
{
	char *from = (char *)(&w->timers + 1);

	ASSERT(sn_timers_is_empty(&w->timers));
	sn_memory_clear(w, offsetof(struct worker, timers));
	sn_memory_clear(from, (size_t)((char *)(w + 1) - from));
}

int sn_worker_make_bound(struct worker **out, sennit_scheduler *s)
{
	struct worker *w = sn_bound_take_spare(&s->bound);
	int            err;

	if (w) {
		sn_memory_show(w, sizeof(*w));
		clear_spare_worker(w);
	} else {
		w = allocate_worker(s);
	}
	err = w ? set_up(w, s, UINT32_MAX) : -ENOMEM;
	if (!err)
		*out = w;
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

/* Free what *w has, except for its own memory. */
static void tear_down(struct worker *w)
{
	sn_poller_state_free(&w->polled);
	if (w->poller) {
		sn_race_hide();
		w->poller->ops->destroy(w->poller);
		sn_race_show();
	}
	ASSERT(!w->idle_stacks.idle);
	sn_worker_drop_alarm(w, &w->main);
	sn_pool_cache_drain(&w->cache);
	sn_run_queue_free(&w->run);
	if (!w->threaded)
		sn_backlog_free(&w->own);
	pthread_mutex_destroy(&w->roster.lock);
	sn_hook_worker_free(w);
}

void sn_worker_free(struct worker *w)
{
	tear_down(w);
	sn_memory_give(&w->scheduler->memory, w, sizeof(*w));
}

static void free_spare_worker(sennit_scheduler *s, struct worker *spare)
{
	if (spare)
		sn_memory_show(spare, sizeof(*spare));
	sn_memory_give(&s->memory, spare, sizeof(*spare));
}

void sn_worker_free_bound(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	tear_down(w);
	sn_memory_hide(w, sizeof(*w));
	free_spare_worker(s, sn_bound_swap_spare(&s->bound, w));
}

void sn_worker_free_spare(sennit_scheduler *s)
{
	free_spare_worker(s, sn_bound_take_spare(&s->bound));
}

void sn_worker_enter(struct worker *w)
{
	w->home.fp_control = arch_fp_control();
	w->home.fp_shared = w->scheduler->config.fp == SENNIT_FP_SHARED;
	w->exceptions = sn_cxx_globals();
	w->error = &errno;
	sn_thread_begin(&w->thread);
	sn_fiber_adopt_thread(&w->main, &w->home);
	w->main.cleanup = sn_worker_cleanup(w);
	sn_hook_enter(w);
	w->home.current = &w->main;
	sn_self = w;
}

uint32_t sn_worker_queued(const struct worker *w, bool *exact)
{
	const uint32_t mailed = sn_task_inbox_count(&w->mail.tasks);
	const uint32_t sent = sn_task_inbox_count(&w->pinned_mail.tasks);
	const uint32_t own = w->threaded ? sn_deque_count(sn_worker_deque(w))
					 : sn_backlog_count(&w->own);

	*exact = mailed < INBOX_COUNTED && sent < INBOX_COUNTED;
	return mailed + sent + own + sn_task_queue_count(&w->run.pinned);
}

uint32_t sn_worker_take_queued(struct worker *w, struct worker *from,
			       uint32_t parts)
{
	const struct queued_tasks_to to = { sn_worker_deque(w), &w->cache,
					    w->run.oldest_first };

	return sn_task_inbox_take(&from->mail.tasks, &to, parts);
}

static void collect_tasks(struct worker *w)
{
	/* A closed worker's tasks go to others: see worker_threads.h. */
	if (w->run.draining || sn_inbox_is_empty(&w->mail.tasks) ||
	    !sn_worker_take_queued(w, w, 1))
		return;
	/* In between the tasks were in no queue. A worker that looked for them
	 * meanwhile may have gone to sleep. */
	a_fence(); /* <-> park.sleep: pushed, before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}

/* Without memory the rest is enqueued again. */
static struct node *collect_pinned_mail(struct worker *w, struct node *first,
					struct node **last)
{
	struct node *n = sn_pinned_mail_drain(&w->pinned_mail, &first, last);
	bool         kept = true;

	sn_deadlines_rearm(w);
	while (n) {
		struct queued_task *p = container_of(n, struct queued_task,
						     node);
		struct node        *next = n->next;

		kept = kept &&
		       !sn_task_queue_push_back(&w->run.pinned, p->task);
		if (kept)
			sn_pool_give(&w->cache, p);
		else
			sn_pinned_mail_enqueue(&w->pinned_mail, &w->mail, n);
		n = next;
	}
	return first;
}

/* The tasks first: a note that was left before one of them is then found. */
void sn_worker_collect(struct worker *w)
{
	struct node *first, *last;

	collect_tasks(w);
	TORTURE_POINT(); /* has tasks, does not know yet whether to record */
	first = sn_inbox_take(&w->mail.fibers, &last);
	if (first && sn_hook_has_note(w))
		first = sn_hook_take_note(w, first, &last);
	if (first && unlikely(sn_pinned_mail_is_notified(&w->pinned_mail)))
		first = collect_pinned_mail(w, first, &last);
	if (!first)
		return;
	sn_hook_ready(w, first);
	sn_fifo_append(&w->run.ready, first, last);
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

bool sn_worker_wake(struct worker *w)
{
	bool woken;

	if (!w->threaded)
		return sn_parking_wake(&w->own_parking.sleeper);
	woken = sn_parking_wake(&w->sleeper);
	/* After the fence of the wake above. */
	if (unlikely(sn_own_parking_is_used(&w->own_parking)))
		sn_parking_wake(&w->own_parking.sleeper);
	return woken;
}

void sn_worker_wake_all(sennit_scheduler *s)
{
	struct binding *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		sn_worker_wake(s->workers[i]);
	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b)))
		sn_worker_wake(sn_worker_bound(b));
	pthread_mutex_unlock(&s->bound.lock);
}
