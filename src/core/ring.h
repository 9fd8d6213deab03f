/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - a growing queue of tasks that only its owner touches.
 *
 *	slots   . . t0 t1 t2 t3 . .
 *	            ^ head      ^ head + count	(modulo the capacity)
 *
 * All plain memory. An empty ring has none: the first push allocates.
 *
 * Invariants
 *   - count <= capacity; capacity is 0 or a power of two.
 *   - slots is NULL exactly when capacity is 0.
 */
#ifndef SN_RING_H
#define SN_RING_H

#include "base/memory.h"
#include "base/torture.h"
#include "core/task.h"

#include <stdbool.h>

/* The capacity that a ring may keep, whatever is in it. */
#define RING_KEPT TORTURED(1u, 1024u)

struct ring {
	struct task            *slots;     /* owner */
	uint32_t                capacity;  /* owner */
	uint32_t                head;      /* owner: position of the oldest */
	uint32_t                count;     /* owner */
	const sennit_allocator *allocator; /* fixed */
};

void sn_ring_init(struct ring *r, const sennit_allocator *allocator);

/* Whatever is still queued is dropped. */
void sn_ring_free(struct ring *r);

/* Make the ring twice as large; -ENOMEM leaves it as it is. */
COLD int sn_ring_grow(struct ring *r);

/* Give memory back that a longer queue has needed: afterwards the ring is at
 * most four times as large as its contents, or small. */
COLD void sn_ring_trim(struct ring *r);

/* Make room for n more tasks; -ENOMEM leaves them as they are. */
SENNIT_MUST_USE int sn_ring_reserve(struct ring *r, uint32_t n);

static inline uint32_t sn_ring_count(const struct ring *r)
{
	return r->count;
}

static inline bool sn_ring_is_empty(const struct ring *r)
{
	return r->count == 0;
}

/* Whether trimming may give something back. */
static inline bool sn_ring_is_large(const struct ring *r)
{
	return r->capacity > RING_KEPT;
}

/* Append t. Returns 0, or -ENOMEM: nothing has changed. */
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

/* The oldest, which stays; there is one. */
static inline struct task sn_ring_oldest(const struct ring *r)
{
	return r->slots[r->head];
}

/* Take the oldest into *out; false when there is none. */
static inline bool sn_ring_pop_front(struct ring *r, struct task *out)
{
	if (r->count == 0)
		return false;
	*out = r->slots[r->head];
	r->head = (r->head + 1) & (r->capacity - 1);
	r->count--;
	return true;
}

/* Take the newest into *out; false when there is none. */
static inline bool sn_ring_pop_back(struct ring *r, struct task *out)
{
	if (r->count == 0)
		return false;
	r->count--;
	*out = r->slots[(r->head + r->count) & (r->capacity - 1)];
	return true;
}

#endif
