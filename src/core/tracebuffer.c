/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracebuffer.h"

#include "base/memory.h"

#include <errno.h>

int sn_tracebuffer_init(struct tracebuffer *b, const sennit_allocator *memory,
			uint32_t capacity)
{
	b->capacity = capacity;
	b->state = UINT32_MAX;
	a_init(&b->count, 0);
	b->events = NULL;
	if (!capacity)
		return 0;
	b->events = sn_memory_take(memory, capacity * sizeof(*b->events),
				   sizeof(*b->events));
	return b->events ? 0 : -ENOMEM;
}

void sn_tracebuffer_free(struct tracebuffer *b, const sennit_allocator *memory)
{
	sn_memory_give(memory, b->events,
		       (size_t)b->capacity * sizeof(*b->events));
}

void sn_tracebuffer_record(struct tracebuffer *b, uint32_t state,
			   sennit_time now)
{
	uint64_t i = a_load_rlx(&b->count);

	b->state = state;
	/* -> trace.slot: the count that made this slot old was stored first */
	a_store_rel(&b->events[i % b->capacity], now << 2 | state);
	a_store_rel(&b->count, i + 1); /* -> trace.event: the event is stored */
}

uint64_t sn_tracebuffer_copy(struct tracebuffer *b, uint64_t out[])
{
	uint64_t end = a_load_acq(&b->count); /* <- trace.event */
	uint64_t begin = end > b->capacity ? end - b->capacity : 0;
	uint64_t whole;
	uint64_t now;

	for (uint64_t i = begin; i < end; i++)
		/* <- trace.slot */
		out[i - begin] = a_load_acq(&b->events[i % b->capacity]);
	/* A slot with a new value was written after the count of the event
	 * before it, so this load sees that count. The owner may be writing one
	 * more event. */
	now = a_load_rlx(&b->count);
	whole = now + 1 > b->capacity ? now + 1 - b->capacity : 0;
	if (whole <= begin)
		return end - begin;
	if (whole >= end)
		return 0;
	for (uint64_t i = whole; i < end; i++)
		out[i - whole] = out[i - begin];
	return end - whole;
}
