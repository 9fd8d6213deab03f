/* SPDX-License-Identifier: Apache-2.0 */
/* tracebuffer.h - the most recent state changes of one worker, in a ring.
 *
 *	events   e0 e1 e2 ... one word each: { time : 62 | state : 2 }
 *	count    events written so far; event i lies at i % capacity
 *
 * The owner writes, any thread reads. A reader copies the events, reads the
 * count again, and drops the events that the owner may have overwritten
 * meanwhile.
 */
#ifndef SN_TRACEBUFFER_H
#define SN_TRACEBUFFER_H

#include "base/atomic.h"
#include "sennit/base.h"

struct tracebuffer {
	a_u64   *events;   /* owner writes; NULL: no tracing */
	uint64_t capacity; /* fixed */
	a_u64    count;    /* owner writes */
	uint32_t state;    /* owner: the last recorded state */
};

int  sn_tracebuffer_init(struct tracebuffer *b, const sennit_allocator *memory,
			 uint32_t capacity);
void sn_tracebuffer_free(struct tracebuffer *b, const sennit_allocator *memory);

/* Append an event: the worker is in `state` (0..3) from `now` on. Owner
 * only. */
void sn_tracebuffer_record(struct tracebuffer *b, uint32_t state,
			   sennit_time now);

/* Copy the events that are still intact, oldest first, into out[capacity].
 * Returns their number. Once capacity events have been written it is at most
 * capacity - 1, because the owner may be writing to the slot of the oldest. */
uint64_t sn_tracebuffer_copy(struct tracebuffer *b, uint64_t out[]);

static inline uint32_t sn_tracebuffer_state(uint64_t event)
{
	return (uint32_t)(event & 3);
}

static inline sennit_time sn_tracebuffer_time(uint64_t event)
{
	return event >> 2;
}

#endif
