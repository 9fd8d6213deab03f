/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/run_queue.h"

#include "base/check.h"

int sn_run_queue_init(struct run_queue *q, const struct run_queue_kind *kind,
		      const sennit_allocator *memory)
{
	int err = 0;

	q->ready = (struct fifo){ .head = NULL };
	q->dispatches = WORKER_UPKEEP;
	q->upkeeps = WORKER_OLDEST;
	q->skips = WORKER_SKIPS;
	q->oldest_first = kind->oldest_first;
	q->threaded = kind->threaded;
	q->unfenced = kind->threaded && kind->asymmetric && !kind->spread;
	sn_ring_init(&q->pinned, memory);
	if (q->threaded)
		err = sn_deque_init(&q->deque, memory, WORKER_DEQUE,
				    kind->asymmetric);
	if (!err)
		sn_run_queue_drain(q, false);
	return err;
}

void sn_run_queue_free(struct run_queue *q)
{
	sn_ring_free(&q->pinned);
	if (q->threaded)
		sn_deque_free(&q->deque);
}

/* What follows from draining and recorded. */
static void settle(struct run_queue *q)
{
	q->pushes = q->unfenced && !q->draining && !q->recorded;
	q->pops = q->threaded && !q->draining && !q->oldest_first;
}

void sn_run_queue_record(struct run_queue *q, bool recorded)
{
	q->recorded = recorded;
	settle(q);
}

void sn_run_queue_drain(struct run_queue *q, bool drains)
{
	q->draining = drains;
	settle(q);
	if (drains) /* because fork_join.h pushes directly */
		sn_deque_forget_room(&q->deque);
}

void sn_run_queue_trim(struct run_queue *q)
{
	sn_ring_trim(&q->pinned);
	if (q->threaded)
		sn_deque_trim(&q->deque);
}

bool sn_run_queue_is_large(const struct run_queue *q)
{
	return sn_ring_is_large(&q->pinned) ||
	       (q->threaded && sn_deque_is_large(&q->deque));
}

int sn_run_queue_keep(struct run_queue *q, struct task t)
{
	return q->threaded ? sn_deque_push(&q->deque, t)
			   : sn_ring_push_back(&q->pinned, t);
}

/* The order is such that the oldest task runs first. */
void sn_run_queue_keep_loot(struct run_queue *q, const struct task loot[],
			    uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CHECK(sn_deque_push(&q->deque,
				    loot[q->oldest_first ? i : n - 1 - i]) == 0,
		      "no room for stolen tasks in an empty deque");
}

/* --- taking ------------------------------------------------------------- */

static bool take_pinned(struct run_queue *q, struct task *t)
{
	return q->oldest_first || q->threaded ? sn_ring_pop_front(&q->pinned, t)
					      : sn_ring_pop_back(&q->pinned, t);
}

/* Pinned tasks and deque tasks alternate; or the oldest comes first. */
bool sn_run_queue_take_mixed(struct run_queue *q, struct task *t)
{
	if (!sn_ring_is_empty(&q->pinned) &&
	    (q->dispatches & 1 || !q->threaded))
		return take_pinned(q, t);
	if (q->threaded && (q->oldest_first ? sn_deque_pop_oldest(&q->deque, t)
					    : sn_deque_pop(&q->deque, t)))
		return true;
	return take_pinned(q, t);
}

bool sn_run_queue_take_oldest(struct run_queue *q, struct task *t)
{
	return q->threaded ? sn_deque_pop_oldest(&q->deque, t)
			   : sn_ring_pop_front(&q->pinned, t);
}
