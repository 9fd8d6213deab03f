/* SPDX-License-Identifier: Apache-2.0 */
/* tracebuffer.h - the last changes of state of one worker.
 *
 *	events   e0 e1 e2 ... one word each: { time : 62 | state : 2 }
 *	count    how many were ever written; event i lies at i % capacity
 *
 * The owner writes, anyone reads. A reader copies, then looks at the count
 * again and drops what the owner may have overwritten meanwhile.
 */
#ifndef SN_TRACEBUFFER_H
#define SN_TRACEBUFFER_H

#include "base/atomic.h"
#include "sennit/base.h"

struct tracebuffer {
	a_u64   *events;   /* owner writes; NULL: no tracing */
	uint64_t capacity; /* fixed */
	a_u64    count;    /* owner writes */
	uint32_t state;    /* owner: the last one recorded */
};

int  sn_tracebuffer_init(struct tracebuffer *b, const sennit_allocator *memory,
			 uint32_t capacity);
void sn_tracebuffer_free(struct tracebuffer *b, const sennit_allocator *memory);

/* Append: from `now` on the worker is in `state` (0..3). Owner only. */
void sn_tracebuffer_record(struct tracebuffer *b, uint32_t state,
			   sennit_time now);

/* Copy the events still whole, oldest first, into out[capacity]; returns how
 * many: capacity - 1 once that many were written, for the owner may be writing
 * the slot of the oldest. */
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
