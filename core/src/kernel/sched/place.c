/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/place.h"

#include "base/memory.h"
#include "base/torture.h"
#include "life/end.h"
#include "life/worker_threads.h"
#include "os/os.h"
#include "sched/hooks.h"
#include "sched/mailbox.h"
#include "sched/run_queue.h"
#include "sched/worker.h"

#include <errno.h>

_Static_assert(sizeof(struct queued_task) <= POOL_BLOCK,
	       "a queued task fits a block");

/* --- inboxes ------------------------------------------------------------ */

/* All workers have a turn in each round. The rounds begin with different
 * workers: if every k-th task waits, and k and the number of workers have a
 * common divisor, the same workers would get all that wait. The multiples of an
 * irrational number are spread evenly, and so are those of every k-th round. It
 * is small, so that short bursts have no near resonance (of sixteen constants
 * the one that is best for 2 to 16 workers and k from 1 to 8). */
static uint32_t in_turn(uint32_t n, uint32_t workers)
{
	const uint32_t step = UINT32_C(0x06a09e67); /* (sqrt(2) - 1) / 16, times
						     * 2^32 */
	uint32_t       begins = n / workers * step;

	return (n + (uint32_t)((uint64_t)begins * workers >> 32)) % workers;
}

static struct worker *next_in_turn(sennit_scheduler *s)
{
	/* A stale value is harmless: the thread that lowers `open` looks into
	 * the inbox after this one, or this one sees the new value when it
	 * looks again. */
	uint32_t open = sn_worker_counts_open(&s->counts);

	return s->workers[in_turn(a_add_rlx(&s->next_worker, 1), open)];
}

/* Push a chain, linked from its newest node to its oldest, to the inbox of
 * `to`. If `to` has closed meanwhile, take everything in its inbox and push it
 * to that of an open worker. */
static struct worker *push_to_inbox(struct worker *to, struct node *newest,
				    struct node *oldest)
{
	for (;; to = next_in_turn(to->scheduler)) {
		sn_task_inbox_push(&to->mail.tasks, newest, oldest);
		/* <-> worker_threads.drain: pushed, before looking again */
		a_fence();
		TORTURE_POINT();
		if (likely(!sn_worker_threads_is_draining(to))) {
			sn_parking_fill(&to->sleeper);
			return to;
		}
		newest = sn_mailbox_take_tasks(&to->mail, &oldest);
		if (!newest)
			return to; /* the thread that closed it was faster */
	}
}

static struct worker *push_to_next_inbox(sennit_scheduler *s,
					 struct node      *newest,
					 struct node      *oldest)
{
	return push_to_inbox(next_in_turn(s), newest, oldest);
}

void sn_place_push_to_inbox(struct worker *to, struct node *newest,
			    struct node *oldest)
{
	push_to_inbox(to, newest, oldest);
}

void sn_place_drain_inbox(struct worker *w)
{
	struct node *oldest;
	struct node *newest = sn_mailbox_take_tasks(&w->mail, &oldest);

	if (newest)
		push_to_next_inbox(w->scheduler, newest, oldest);
}

/* While all workers sleep, the same one runs task after task: what it needs is
 * in its caches, and the others sleep on. Fibers stay with their worker, so if
 * any wait there, it is the next worker's turn. */
static struct worker *next_for_one(sennit_scheduler *s)
{
	uint32_t       open = sn_worker_counts_open(&s->counts); /* as above */
	struct worker *same =
		s->workers[in_turn(a_load_rlx(&s->next_worker), open)];

	return sn_parking_all_sleep(&s->parking) &&
			       !sn_counters_blocked(&same->counters)
		       ? same
		       : next_in_turn(s);
}

void sn_place_enqueue(sennit_scheduler *s, struct node *n)
{
	struct worker *to = push_to_inbox(next_for_one(s), n, n);

	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(&s->parking, to->index);
}

/* The last of the first n nodes of a chain. */
static struct node *end_of_run(struct node *newest, uint32_t n)
{
	while (--n)
		newest = newest->next;
	return newest;
}

void sn_place_enqueue_chain(sennit_scheduler *s, struct node *newest,
			    struct node *oldest, uint32_t count, uint32_t ways)
{
	struct worker *to;

	for (; ways > 1; ways--) {
		uint32_t     n = count / ways;
		struct node *last = end_of_run(newest, n);
		struct node *rest = last->next; /* read it now: the chain will
						 * belong to others */

		push_to_next_inbox(s, newest, last);
		newest = rest;
		count -= n;
	}
	to = push_to_next_inbox(s, newest, oldest);
	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(&s->parking, to->index);
}

void sn_place_drain_worker(struct worker *w)
{
	struct task t;

	sn_place_drain_inbox(w);
	while (sn_deque_pop_oldest(sn_worker_deque(w), &t)) {
		struct queued_task *p = sn_pool_take(&w->cache);

		if (!p) {
			CHECK(!sn_deque_push(sn_worker_deque(w), t),
			      "no room for a task just taken");
			break;
		}
		sn_task_send(&t);
		p->task = t;
		push_to_next_inbox(w->scheduler, &p->node, &p->node);
	}
	a_fence(); /* <-> park.sleep: published before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}

/* --- placing ------------------------------------------------------------ */

/* The caller may rely on a searcher only after a fence. Otherwise the searcher
 * may just have found other work and, as the last searcher, looked for more
 * while this thread's push was still in the store buffer. No thread would then
 * wake the sleepers. */
int sn_place_help(struct worker *w)
{
	bool hungry;

	TORTURE_POINT(); /* pushed, but not yet visible to others */
	a_fence(); /* <-> park.sleep: pushed, before looking who searches */
	hungry = sn_parking_is_hungry(w->parking);
	if (hungry || sn_deque_is_asked(sn_worker_deque(w)))
		sn_deque_publish(sn_worker_deque(w));
	if (hungry)
		sn_parking_wake_one(w->parking, w->index);
	return 0;
}

/* --- blocks ------------------------------------------------------------- */

static struct pool_cache *own_cache(sennit_scheduler *s)
{
	struct worker *w = sn_place_own_worker(s);

	return w ? &w->cache : NULL;
}

void *sn_place_take_block(sennit_scheduler *s)
{
	struct pool_cache *c = own_cache(s);

	return c ? sn_pool_take(c) : sn_pool_take_shared(&s->pool);
}

void sn_place_give_block(sennit_scheduler *s, void *block)
{
	struct pool_cache *c = own_cache(s);

	if (c)
		sn_pool_give(c, block);
	else
		sn_pool_give_shared(&s->pool, block);
}

/* --- placing ------------------------------------------------------------ */

/* Queue t in the backlog, or in the inbox of the next worker in turn. */
static int enqueue_task(sennit_scheduler *s, struct task t, uint32_t flags)
{
	struct queued_task *p;

	if (flags & SENNIT_TASK_BACKGROUND)
		return sn_background_enqueue(s, t);
	p = sn_place_take_block(s);
	if (!p)
		return -ENOMEM;
	sn_task_send(&t);
	p->task = t;
	sn_place_enqueue(s, &p->node);
	return 0;
}

/* The reference keeps s alive: the task may drop the caller's reference before
 * its worker is woken. */
static int enqueue_task_from_outside(sennit_scheduler *s, struct task t,
				     uint32_t flags)
{
	int err;

	if (flags & PLACE_KEPT)
		return enqueue_task(s, t, flags);
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	err = enqueue_task(s, t, flags);
	TORTURE_POINT(); /* the task may have dropped all references except this
			  * one */
	sn_end_release(s);
	return err;
}

void sn_place_pushed(struct worker *w)
{
	if (likely(sn_run_queue_is_unfenced(&w->run))) {
		if (sn_place_is_help_due(w))
			sn_place_help(w);
		return;
	}
	/* The system has no process barrier, so the owner needs a fence. */
	a_fence(); /* <-> deque.unfenced: push, then look */
	if (sn_deque_is_asked(sn_worker_deque(w)) ||
	    sn_parking_is_hungry(w->parking))
		sn_place_help(w);
}

enum way sn_place_way(sennit_scheduler *s, struct worker *w, uint32_t flags,
		      const char *call)
{
	bool background = flags & SENNIT_TASK_BACKGROUND;

	if (flags & SENNIT_TASK_SAME_THREAD) {
		MISUSE(!w, call,
		       "a same-thread task from a thread that is not bound to "
		       "the scheduler");
		return WAY_PINNED;
	}
	if (!s->capacity) {
		MISUSE(!w, call,
		       "the scheduler has no workers and this thread is not "
		       "bound to it: nobody would run the task");
		return background ? WAY_OWN_BACKLOG : WAY_PINNED;
	}
	return !w || background || !w->threaded || w->run.draining ||
			       s->config.placement == SENNIT_PLACEMENT_SPREAD
		       ? WAY_SENT
		       : WAY_DEQUE;
}

static ALWAYS_INLINE int place_task(sennit_scheduler *s, struct worker *w,
				    struct task t, uint32_t flags,
				    const char *call)
{
	int err;

	switch (sn_place_way(s, w, flags, call)) {
	case WAY_DEQUE:
		if (!w) /* never; it stops a warning of gcc 12 */
			__builtin_unreachable();
		err = sn_deque_push(sn_worker_deque(w), t);
		if (!err)
			sn_place_pushed(w);
		return err;
	case WAY_PINNED:
		return sn_task_queue_push_back(&w->run.pinned, t);
	case WAY_OWN_BACKLOG:
		err = sn_run_queue_reserve(&w->run);
		return err ? err : sn_backlog_push(w->backlog, t, os_now());
	default:
		return w ? enqueue_task(s, t, flags)
			 : enqueue_task_from_outside(s, t, flags);
	}
}

int sn_place(sennit_scheduler *s, struct task t, uint32_t flags,
	     const char *call)
{
	struct worker *w = sn_place_own_worker(s);
	int            err;

	sn_hook_spawn(s, &t);
	sn_task_count_add(s, t.meta, 1);
	err = place_task(s, w, t, flags, call);
	if (unlikely(err)) /* on success *s may be gone */
		sn_task_count_drop(s, t.meta, 1);
	return err;
}

/* The reference is as in enqueue_task_from_outside(). */
static int enqueue_on_worker(sennit_scheduler *s, uint32_t index, struct task t)
{
	struct queued_task *p;
	int                 err;

	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	p = sn_place_take_block(s);
	if (!p) {
		sn_end_release(s);
		return -ENOMEM;
	}
	sn_task_send(&t);
	p->task = t;
	err = sn_worker_threads_send_to(s, index, &p->node);
	if (err)
		sn_place_give_block(s, p);
	sn_end_release(s);
	return err;
}

int sn_place_on(sennit_scheduler *s, uint32_t index, struct task t,
		const char *call)
{
	int err;

	if (index >= (s->capacity ? s->capacity : 1))
		return -ENOENT;
	if (!s->capacity)
		return sn_place(s, t, 0, call);
	sn_hook_spawn(s, &t);
	sn_task_count_add(s, t.meta, 1);
	err = enqueue_on_worker(s, index, t);
	if (unlikely(err))
		sn_task_count_drop(s, t.meta, 1);
	return err;
}

/* --- placing what must be placed ---------------------------------------- */

struct queued_task *sn_place_reserve(sennit_scheduler *s)
{
	return sn_place_take_block(s);
}

void sn_place_reserved(sennit_scheduler *s, struct queued_task *p,
		       struct task t)
{
	struct worker *w = sn_place_own_worker(s);

	/* On the caller's own deque the task is closer than in any inbox. */
	if (w && w->threaded && !sn_place(s, t, 0, "sn_place_reserved")) {
		sn_place_give_block(s, p);
		return;
	}
	if (!w)
		sn_hook_spawn(s, &t);
	sn_task_count_add(s, t.meta, 1);
	sn_task_send(&t);
	p->task = t;
	sn_place_enqueue(s, &p->node);
}

/* --- background ----------------------------------------------------------- */

static int wake_after_background(sennit_scheduler *s, int err)
{
	if (err)
		return err;
	a_fence(); /* <-> park.sleep: counted, before looking for sleepers */
	sn_parking_wake_one(&s->parking, 0);
	return 0;
}

int sn_background_enqueue(sennit_scheduler *s, struct task t)
{
	return wake_after_background(s,
				     sn_backlog_push(&s->backlog, t, os_now()));
}

int sn_background_enqueue_many(sennit_scheduler *s, backlog_filler *fill,
			       void *filler)
{
	return wake_after_background(
		s, sn_backlog_fill(&s->backlog, fill, filler, os_now()));
}

static int keep_background_task(void *worker, struct task t)
{
	struct worker *w = worker;

	return sn_run_queue_keep(&w->run, t);
}

bool sn_background_take(struct worker *w, sennit_time now)
{
	ASSERT_OWNER(w);
	return sn_backlog_pass(w->backlog, now, keep_background_task, w);
}

void sn_background_catch_up(struct worker *w, sennit_time now)
{
	if (!sn_background_take(w, now) || !w->threaded)
		return;
	/* In between the task was in no queue. A worker that looked for it
	 * meanwhile may have gone to sleep. */
	a_fence(); /* <-> park.sleep: pushed, before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}
