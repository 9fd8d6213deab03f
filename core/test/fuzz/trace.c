/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - any events in a ring of any size: a reader gets the newest events,
 * whole and in order, and nothing is written behind the ring. */
#include "observe/trace.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST = 512 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct history {
	struct trace_ring        *ring;
	struct sennit_trace_event events[MOST];
	uint64_t                  first; /* of this recording */
	uint64_t                  count;
};

static void compare(struct history *h)
{
	uint64_t begin, end, time = 0;

	sn_trace_ring_range(h->ring, &begin, &end);
	require(end == h->count && begin >= h->first);
	/* All events, or the capacity less one. */
	require(begin == h->first || end - begin + 1 == h->ring->capacity);
	for (uint64_t i = begin; i < end; i++) {
		const struct sennit_trace_event *wanted = &h->events[i];
		struct sennit_trace_event        e;

		sn_trace_ring_read(h->ring, i, &e);
		require(e.time >= time && e.fiber == wanted->fiber &&
			e.kind == wanted->kind && e.detail == wanted->detail &&
			e.a == wanted->a && e.b == wanted->b);
		time = e.time;
	}
}

/* Each byte is an event. */
static void add(struct history *h, uint8_t byte)
{
	struct sennit_trace_event *e = &h->events[h->count++];

	e->fiber = (uint32_t)byte << (byte & 31);
	e->kind = (uint16_t)(1 + byte % SENNIT_TRACED_STATE);
	e->detail = (uint16_t)((uint32_t)byte << (byte & 15));
	e->a = (uint64_t)byte << (byte & 63);
	e->b = ~e->a;
	sn_trace_ring_add(h->ring, e->fiber, e->kind, e->detail, e->a, e->b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct history h;

	if (!size)
		return 0;
	h.first = 0;
	h.count = 0;
	h.ring = sn_trace_ring_make(UINT64_C(1) << bytes[0] % 7);
	if (!h.ring)
		return 0;
	for (size_t i = 1; i < size && h.count < MOST; i++) {
		if (bytes[i] == 255) {
			sn_trace_ring_begin(h.ring);
			h.first = h.count;
			continue;
		}
		add(&h, bytes[i]);
		if (bytes[i] & 4)
			compare(&h);
	}
	compare(&h);
	sn_trace_ring_free(h.ring);
	return 0;
}
