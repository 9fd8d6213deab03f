/* SPDX-License-Identifier: Apache-2.0 */
/* task_queue.h - a growing queue of tasks of one owner, in linked segments.
 *
 *	front              ...             back
 *	[. . t0 t1] <-> [t2 t3 t4 t5] <-> [t6 t7 . .]    spares: [. . . .] ...
 *	     ^ head                              ^ tail
 *
 * A push takes constant time, because nothing is copied when the queue grows.
 * Emptied segments are kept for later pushes until a trim.
 *
 * Not thread-safe: plain memory, except for `count`. An empty queue has no
 * memory; the first push allocates it.
 *
 * Invariants
 *   - A queue with tasks has a task in its front and one in its back segment.
 *     A queue without tasks has one segment, or none before the first push and
 *     after a trim.
 *   - room is the number of slots of all segments, and spare_room that of the
 *     spares.
 */
#ifndef SN_TASK_QUEUE_H
#define SN_TASK_QUEUE_H

#include "queue/task.h"

/* Trimming leaves room for so many tasks. */
#define QUEUE_KEPT TORTURED(1u, 1024u)

struct task_segment {
	struct task_segment *next, *previous; /* spares use only next */
	struct task         *end;             /* fixed: of its slots */
	struct task          slots[];
};

struct task_queue {
	struct task         *head;       /* owner: the oldest */
	struct task         *head_limit; /* owner: end of the front segment */
	struct task         *tail;       /* owner: behind the newest */
	struct task         *tail_limit; /* owner: end of the back segment */
	a_u32                count; /* owner writes; a statistic for others */
	uint32_t             taken; /* owner: pops of the front; wraps */
	struct task_segment *front, *back, *spare; /* owner */
	uint32_t             room;                 /* owner */
	uint32_t             spare_room;           /* owner */
	const sennit_allocator *allocator;         /* fixed */
};

void sn_task_queue_init(struct task_queue      *q,
			const sennit_allocator *allocator);

/* Tasks that are still queued are dropped. */
void sn_task_queue_free(struct task_queue *q);

/* Begin the next segment at the back. On -ENOMEM the queue is unchanged. */
COLD int sn_task_queue_grow(struct task_queue *q);

/* The front or the back segment has no task any more: go on with the segment
 * next to it, if the queue has tasks. */
COLD void sn_task_queue_leave_front(struct task_queue *q);
COLD void sn_task_queue_leave_back(struct task_queue *q);

/* Free memory that a longer queue needed. Afterwards there is room for at most
 * four times the number of tasks, or for QUEUE_KEPT, besides segments that have
 * tasks or that are the only one. If there was room for a task before, there is
 * some afterwards. */
COLD void sn_task_queue_trim(struct task_queue *q);

/* Make room for n more tasks. On -ENOMEM no task is lost. */
SENNIT_MUST_USE int sn_task_queue_reserve(struct task_queue *q, uint32_t n);

/* For others it may be late. */
static inline uint32_t sn_task_queue_count(const struct task_queue *q)
{
	return a_load_rlx(&q->count); /* relaxed: only a statistic */
}

static inline void sn_task_queue_set_count(struct task_queue *q, uint32_t count)
{
	a_store_rlx(&q->count, count); /* relaxed: the same */
}

static inline bool sn_task_queue_is_empty(const struct task_queue *q)
{
	return sn_task_queue_count(q) == 0;
}

/* A number that changes when a task is pushed. It is the same again after that
 * one was popped from the back. */
static inline uint32_t sn_task_queue_newest(const struct task_queue *q)
{
	return q->taken + sn_task_queue_count(q);
}

/* Whether trimming may free memory. */
static inline bool sn_task_queue_is_large(const struct task_queue *q)
{
	return q->spare && q->room > QUEUE_KEPT;
}

/* Append t. Returns 0. On -ENOMEM nothing has changed. */
static inline SENNIT_MUST_USE int sn_task_queue_push_back(struct task_queue *q,
							  struct task        t)
{
	if (unlikely(q->tail == q->tail_limit)) {
		int err = sn_task_queue_grow(q);

		if (err)
			return err;
	}
	sn_task_send(&t);
	*q->tail++ = t;
	sn_task_queue_set_count(q, sn_task_queue_count(q) + 1);
	return 0;
}

/* The oldest task, which stays in the queue. The queue must not be empty. */
static inline struct task sn_task_queue_oldest(const struct task_queue *q)
{
	return *q->head;
}

/* Take the oldest task into *out. Returns false when the queue is empty. */
static inline bool sn_task_queue_pop_front(struct task_queue *q,
					   struct task       *out)
{
	uint32_t count = sn_task_queue_count(q);

	if (count == 0)
		return false;
	*out = *q->head++;
	q->taken++;
	sn_task_queue_set_count(q, count - 1);
	if (unlikely(q->head == q->head_limit))
		sn_task_queue_leave_front(q);
	return true;
}

/* Take the newest task into *out. Returns false when the queue is empty. */
static inline bool sn_task_queue_pop_back(struct task_queue *q,
					  struct task       *out)
{
	uint32_t count = sn_task_queue_count(q);

	if (count == 0)
		return false;
	*out = *--q->tail;
	sn_task_queue_set_count(q, count - 1);
	if (unlikely(q->tail == q->back->slots))
		sn_task_queue_leave_back(q);
	return true;
}

#endif
