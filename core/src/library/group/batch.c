/* SPDX-License-Identifier: Apache-2.0 */
#include "group/submit.h"

#include "base/torture.h"
#include "group/domain.h"
#include "life/end.h"
#include "life/worker_threads.h"
#include "os/os.h"
#include "sched/hooks.h"
#include "sched/run_queue.h"

#include <errno.h>

#define LARGEST_BATCH (UINT32_C(1) << 30) /* no queue holds more tasks */

struct task_batch {
	sennit_scheduler     *s;
	struct sennit_domain *domain; /* the domain of the tasks, or NULL */
	struct worker        *w;      /* the caller's worker, if it belongs to
				       * s */
	struct pool_cache    *cache;  /* that of w, or one for this call only */
	const sennit_task    *tasks;
	uint32_t              count;
	bool                  copies; /* some task's argument must be copied */

	struct node *newest, *oldest; /* chain of queued tasks, linked from the
				       * newest to the oldest */
};

static int pack_batch_task(const struct task_batch *b, uint32_t i,
			   struct task *t)
{
	int err = sn_submit_pack_from(b->s, b->cache, &b->tasks[i], t);

	if (err)
		return err;
	t->meta |= (uintptr_t)b->domain;
	sn_task_send(t);
	sn_hook_spawn(b->s, t);
	return 0;
}

/* --- ways --------------------------------------------------------------- */

/* Remove the newest n tasks. */
static void empty_queue(const struct task_batch *b, struct task_queue *r,
			uint32_t n)
{
	struct task t;

	while (n-- && sn_task_queue_pop_back(r, &t))
		sn_submit_unpack(b->s, t);
}

static int fill_queue(void *batch, struct task_queue *r)
{
	const struct task_batch *b = batch;
	struct task              t;
	int                      err = sn_task_queue_reserve(r, b->count);

	for (uint32_t i = 0; i < b->count && !err; i++) {
		err = pack_batch_task(b, i, &t);
		if (!err)
			err = sn_task_queue_push_back(r, t);
		if (err)
			empty_queue(b, r, i);
	}
	return err;
}

static void empty_deque(const struct task_batch *b, struct deque *d, uint32_t n)
{
	while (n--)
		sn_submit_unpack(b->s, sn_slot_read(sn_deque_spare(d, n)));
}

static int fill_deque(const struct task_batch *b, struct deque *d)
{
	struct task t;

	for (uint32_t i = 0; i < b->count; i++) {
		int err = pack_batch_task(b, i, &t);

		if (err) {
			empty_deque(b, d, i);
			return err;
		}
		sn_slot_fill(sn_deque_spare(d, i), t);
	}
	return 0;
}

/* The same for tasks without copies: it needs no packing and cannot fail. */
static void fill_deque_plain(const struct task_batch *b, struct deque *d)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const sennit_task *user = &b->tasks[i];

		sn_slot_fill(
			sn_deque_spare(d, i),
			TASK(user->run, user->argument, (uintptr_t)b->domain));
	}
}

static int push_batch(const struct task_batch *b)
{
	struct deque *d = sn_worker_deque(b->w);
	int           err = sn_deque_has_room_for(d, b->count)
				    ? 0
				    : sn_deque_reserve(d, b->count);

	if (!err && !b->copies && !sn_hook_spawn_is_seen(b->s))
		fill_deque_plain(b, d);
	else if (!err)
		err = fill_deque(b, d);
	if (err)
		return err;
	sn_deque_push_filled(d, b->count);
	sn_place_pushed(b->w);
	return 0;
}

static void unpack_queued_tasks(struct task_batch *b)
{
	while (b->newest) {
		struct queued_task *p = container_of(b->newest,
						     struct queued_task, node);

		b->newest = p->node.next;
		sn_submit_unpack(b->s, p->task);
		sn_pool_give(b->cache, p);
	}
}

static int pack_queued_task(struct task_batch *b, uint32_t i)
{
	struct queued_task *p = sn_pool_take(b->cache);
	int                 err;

	if (!p)
		return -ENOMEM;
	err = pack_batch_task(b, i, &p->task);
	if (err) {
		sn_pool_give(b->cache, p);
		return err;
	}
	p->node.next = b->newest;
	b->newest = &p->node;
	if (!b->oldest)
		b->oldest = &p->node;
	return 0;
}

/* Send the queued tasks to one inbox or, with SPREAD placement, to all inboxes
 * in equal runs. */
static int enqueue_batch_tasks(struct task_batch *b)
{
	uint32_t ways = 1;
	int      err = 0;

	for (uint32_t i = 0; i < b->count && !err; i++)
		err = pack_queued_task(b, i);
	if (err) {
		unpack_queued_tasks(b);
		return err;
	}
	if (b->s->config.placement == SENNIT_PLACEMENT_SPREAD)
		/* A stale value makes one run more or fewer than there are
		 * workers. */
		ways = sn_worker_counts_open(&b->s->counts);
	if (ways > b->count)
		ways = b->count;
	sn_place_enqueue_chain(b->s, b->newest, b->oldest, b->count, ways);
	return 0;
}

static int enqueue_batch(struct task_batch *b)
{
	return b->tasks[0].flags & SENNIT_TASK_BACKGROUND
		       ? sn_background_enqueue_many(b->s, fill_queue, b)
		       : enqueue_batch_tasks(b);
}

/* For a thread without a worker: a cache of its own takes blocks from the depot
 * in batches. */
static int enqueue_batch_from_outside(struct task_batch *b)
{
	struct pool_cache cache;
	int               err;

	sn_pool_cache_init(&cache, &b->s->pool);
	b->cache = &cache;
	err = enqueue_batch(b);
	sn_pool_cache_drain(&cache);
	return err;
}

/* --- all of them -------------------------------------------------------- */

/* Check the tasks, and find out whether any argument must be copied. */
static int check_batch(struct task_batch *b)
{
	const uint32_t flags = b->tasks[0].flags;

	for (uint32_t i = 0; i < b->count; i++) {
		const sennit_task *t = &b->tasks[i];

		if (t->flags != flags || t->reserved_ || !t->run)
			return -EINVAL;
		b->copies |= t->copy_size != 0;
	}
	return sn_submit_are_flags(flags) ? 0 : -EINVAL;
}

static int queue_batch(struct task_batch *b, const char *call)
{
	struct worker *w = b->w;
	int            err;

	switch (sn_place_way(b->s, w, b->tasks[0].flags, call)) {
	case WAY_DEQUE:
		return push_batch(b);
	case WAY_PINNED:
		return fill_queue(b, &w->run.pinned);
	case WAY_OWN_BACKLOG:
		err = sn_run_queue_reserve(&w->run);
		return err ? err
			   : sn_backlog_fill(w->backlog, fill_queue, b,
					     os_now());
	default:
		return w ? enqueue_batch(b) : enqueue_batch_from_outside(b);
	}
}

/* Without a domain. A copied argument makes no difference to the count. */
static int place_batch(struct task_batch *b, const char *call)
{
	int err;

	sn_task_count_add(b->s, TASK_BORROWED, b->count);
	err = queue_batch(b, call);
	if (err)
		sn_task_count_drop(b->s, TASK_BORROWED, b->count);
	return err;
}

static int place_batch_in_domain(struct task_batch *b, const char *call)
{
	struct domain_part *part = sn_domain_part(b->domain, b->w);
	int                 err;

	sn_domain_count(b->domain, part, b->count);
	err = queue_batch(b, call);
	if (err)
		sn_domain_count(b->domain, part, -(int64_t)b->count);
	return err;
}

int sn_submit_many(sennit_scheduler *s, struct sennit_domain *domain,
		   const sennit_task *tasks, size_t count, const char *call)
{
	struct worker    *w = sn_place_own_worker(s);
	struct task_batch b = { .s = s,
				.domain = domain,
				.w = w,
				.cache = w ? &w->cache : NULL,
				.tasks = tasks,
				.count = (uint32_t)count };
	int               err;

	if (!count)
		return 0;
	if (count > LARGEST_BATCH)
		return -ENOMEM;
	err = check_batch(&b);
	if (err)
		return err;
	if (w)
		return domain ? place_batch_in_domain(&b, call)
			      : place_batch(&b, call);
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	err = place_batch(&b, call);
	TORTURE_POINT(); /* the tasks may have dropped all references except
			  * this one */
	sn_end_release(s);
	return err;
}
