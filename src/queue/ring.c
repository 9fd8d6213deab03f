/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/task.h"

#include "base/memory.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>

#ifdef SENNIT_SPAWN_SITES
_Thread_local const void *sn_spawn_site;
#endif

#define CAPACITY_FIRST TORTURED(1u, 16u)
#define CAPACITY_MAX   (1u << 30)

void sn_ring_init(struct ring *r, const sennit_allocator *allocator)
{
	*r = (struct ring){ .allocator = allocator };
}

/* Free the slots. The allocator may keep freed memory (glibc does in all arenas
 * except the first, once it has seen a block of that size). Therefore the pages
 * of a large ring are discarded first. */
static void drop(struct ring *r)
{
	size_t size = r->capacity * sizeof(*r->slots);

	if (sn_ring_is_large(r))
		os_discard(r->slots, size);
	sn_memory_give(r->allocator, r->slots, size);
}

void sn_ring_free(struct ring *r)
{
	drop(r);
	sn_ring_init(r, r->allocator);
}

static int resize(struct ring *r, uint32_t capacity)
{
	uint32_t     to_end = r->capacity - r->head;
	uint32_t     straight = r->count < to_end ? r->count : to_end;
	struct task *slots;

	slots = sn_memory_take(r->allocator, capacity * sizeof(*slots),
			       _Alignof(struct task));
	if (!slots)
		return -ENOMEM;
	if (r->count) {
		memcpy(slots, r->slots + r->head, straight * sizeof(*slots));
		memcpy(slots + straight, r->slots,
		       (r->count - straight) * sizeof(*slots));
	}
	drop(r);
	r->slots = slots;
	r->capacity = capacity;
	r->head = 0;
	return 0;
}

int sn_ring_grow(struct ring *r)
{
	uint32_t capacity = r->capacity ? 2 * r->capacity : CAPACITY_FIRST;

	return capacity > CAPACITY_MAX ? -ENOMEM : resize(r, capacity);
}

void sn_ring_trim(struct ring *r)
{
	uint32_t capacity = r->capacity;

	while (capacity > RING_KEPT && capacity / 4 > r->count)
		capacity /= 2;
	if (capacity < r->capacity)
		(void)!resize(r, capacity); /* on an error it stays large */
}

int sn_ring_reserve(struct ring *r, uint32_t n)
{
	while (r->capacity - r->count < n) {
		int err = sn_ring_grow(r);

		if (err)
			return err;
	}
	return 0;
}
