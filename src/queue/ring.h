/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - a growing FIFO queue of tasks for one owner.
 *
 *	slots   . . t0 t1 t2 t3 . .
 *	            ^ head      ^ head + count	(modulo the capacity)
 *
 * Not thread-safe: plain memory. An empty ring has no memory; the first push
 * allocates it.
 *
 * Invariants
 *   - count <= capacity; capacity is 0 or a power of two.
 *   - slots is NULL exactly when capacity is 0.
 */
#ifndef SN_RING_H
#define SN_RING_H

#include "base/memory.h"
#include "base/torture.h"
#include "queue/task.h"

#include <stdbool.h>

/* Trimming never makes the capacity smaller than this. */
#define RING_KEPT TORTURED(1u, 1024u)

struct ring {
	struct task            *slots;     /* owner */
	uint32_t                capacity;  /* owner */
	uint32_t                head;      /* owner: position of the oldest */
	uint32_t                count;     /* owner */
	const sennit_allocator *allocator; /* fixed */
};

void sn_ring_init(struct ring *r, const sennit_allocator *allocator);

/* Tasks that are still queued are dropped. */
void sn_ring_free(struct ring *r);

/* Double the capacity. On -ENOMEM the ring is unchanged. */
COLD int sn_ring_grow(struct ring *r);

/* Free memory that a longer queue needed. Afterwards the capacity is at most
 * four times the number of tasks, or RING_KEPT. */
COLD void sn_ring_trim(struct ring *r);

/* Make room for n more tasks. On -ENOMEM no task is lost. */
SENNIT_MUST_USE int sn_ring_reserve(struct ring *r, uint32_t n);

static inline uint32_t sn_ring_count(const struct ring *r)
{
	return r->count;
}

static inline bool sn_ring_is_empty(const struct ring *r)
{
	return r->count == 0;
}

/* Whether trimming may free memory. */
static inline bool sn_ring_is_large(const struct ring *r)
{
	return r->capacity > RING_KEPT;
}

/* Append t. Returns 0. On -ENOMEM nothing has changed. */
static inline SENNIT_MUST_USE int sn_ring_push_back(struct ring *r,
						    struct task  t)
{
	if (unlikely(r->count == r->capacity)) {
		int err = sn_ring_grow(r);

		if (err)
			return err;
	}
	r->slots[(r->head + r->count) & (r->capacity - 1)] = t;
	r->count++;
	return 0;
}

/* The oldest task, which stays in the ring. The ring must not be empty. */
static inline struct task sn_ring_oldest(const struct ring *r)
{
	return r->slots[r->head];
}

/* Take the oldest task into *out. Returns false when the ring is empty. */
static inline bool sn_ring_pop_front(struct ring *r, struct task *out)
{
	if (r->count == 0)
		return false;
	*out = r->slots[r->head];
	r->head = (r->head + 1) & (r->capacity - 1);
	r->count--;
	return true;
}

/* Take the newest task into *out. Returns false when the ring is empty. */
static inline bool sn_ring_pop_back(struct ring *r, struct task *out)
{
	if (r->count == 0)
		return false;
	r->count--;
	*out = r->slots[(r->head + r->count) & (r->capacity - 1)];
	return true;
}

#endif
