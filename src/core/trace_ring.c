/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trace_ring.h"

#include "arch/arch.h"
#include "base/torture.h"
#include "core/stopwatch.h"
#include "os/os.h"

_Static_assert(sizeof(struct sennit_trace_event) ==
		       TRACE_RING_WORDS * sizeof(uint64_t),
	       "an event is four words");

#define KIND_SHIFT   32
#define DETAIL_SHIFT 48

/* The ring itself lies in front of its words. */
static size_t size_of(uint64_t capacity)
{
	return sizeof(struct trace_ring) +
	       (size_t)capacity * TRACE_RING_WORDS * sizeof(a_u64);
}

struct trace_ring *sn_trace_ring_make(uint64_t capacity)
{
	struct trace_ring *r = os_map(size_of(capacity));

	if (!r)
		return NULL;
	r->words = (a_u64 *)(void *)(r + 1);
	r->capacity = capacity;
	r->ticks = sn_stopwatch_has_ticks();
	return r;
}

void sn_trace_ring_free(struct trace_ring *r)
{
	os_unmap(r, size_of(r->capacity));
}

uint64_t sn_trace_ring_now(bool ticks)
{
	return likely(ticks) ? arch_ticks() : os_now();
}

void sn_trace_ring_begin(struct trace_ring *r)
{
	/* Relaxed: a reader that misses it gets older events, too. */
	a_store_rlx(&r->first, a_load_rlx(&r->written));
}

/* Each word of event i is stored with release, after `written` became i. So a
 * reader that gets a word of it sees in `written` that the event before in this
 * slot is old. */
void sn_trace_ring_add(struct trace_ring *r, uint32_t fiber, uint32_t kind,
		       uint32_t detail, uint64_t a, uint64_t b)
{
	uint64_t i = a_load_rlx(&r->written);
	a_u64   *at = &r->words[(i & (r->capacity - 1)) * TRACE_RING_WORDS];
	uint64_t what = fiber | (uint64_t)kind << KIND_SHIFT |
			(uint64_t)detail << DETAIL_SHIFT;

	/* -> trace_ring.slot: that this slot's event is old */
	a_store_rel(&at[0], sn_trace_ring_now(r->ticks));
	TORTURE_POINT();
	a_store_rel(&at[1], what); /* -> trace_ring.slot: the same */
	a_store_rel(&at[2], a);    /* -> trace_ring.slot: the same */
	TORTURE_POINT();
	a_store_rel(&at[3], b);          /* -> trace_ring.slot: the same */
	a_store_rel(&r->written, i + 1); /* -> trace_ring.event: the event */
}

void sn_trace_ring_range(struct trace_ring *r, uint64_t *begin, uint64_t *end)
{
	uint64_t first = a_load_rlx(&r->first);

	*end = a_load_acq(&r->written); /* <- trace_ring.event */
	/* The writer may be writing to the slot of the oldest. */
	*begin = *end >= r->capacity ? *end + 1 - r->capacity : 0;
	if (first > *begin)
		*begin = first < *end ? first : *end;
}

void sn_trace_ring_read(struct trace_ring *r, uint64_t i,
			struct sennit_trace_event *out)
{
	const a_u64 *at = &r->words[(i & (r->capacity - 1)) * TRACE_RING_WORDS];
	uint64_t     time = a_load_acq(&at[0]); /* <- trace_ring.slot */
	uint64_t     what = a_load_acq(&at[1]); /* <- trace_ring.slot */
	uint64_t     a = a_load_acq(&at[2]);    /* <- trace_ring.slot */
	uint64_t     b = a_load_acq(&at[3]);    /* <- trace_ring.slot */

	TORTURE_POINT();
	*out = (struct sennit_trace_event){ .kind = SENNIT_TRACED_NONE };
	/* Not stale: see sn_trace_ring_add. */
	if (a_load_rlx(&r->written) >= i + r->capacity)
		return;
	out->time = time;
	out->fiber = (uint32_t)what;
	out->kind = (uint16_t)(what >> KIND_SHIFT);
	out->detail = (uint16_t)(what >> DETAIL_SHIFT);
	out->a = a;
	out->b = b;
}
