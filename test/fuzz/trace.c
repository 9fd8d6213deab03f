/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - any events in a buffer of any size: a copy contains the newest
 * events, complete and in order, and nothing is written behind it. */
#include "observe/recorder.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST = 512 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct history {
	struct tracebuffer buffer;
	uint64_t           times[MOST];
	uint32_t           states[MOST];
	uint64_t           count;
};

static void compare(struct history *h)
{
	uint64_t *events = calloc(h->buffer.capacity, sizeof(*events));
	uint64_t  whole, first;

	if (!events)
		return;
	whole = sn_tracebuffer_copy(&h->buffer, events);
	require(whole <= h->buffer.capacity && whole <= h->count);
	/* All events, or the capacity less one. */
	require(whole == h->count || whole + 1 >= h->buffer.capacity);
	first = h->count - whole;
	for (uint64_t i = 0; i < whole; i++) {
		require(sn_tracebuffer_time(events[i]) == h->times[first + i]);
		require(sn_tracebuffer_state(events[i]) ==
			h->states[first + i]);
	}
	free(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct history h;
	uint64_t              now = 0;

	if (!size)
		return 0;
	h.count = 0;
	if (sn_tracebuffer_init(&h.buffer, &sn_memory_libc, 1 + bytes[0] % 64))
		return 0;
	for (size_t i = 1; i < size && h.count < MOST; i++) {
		now += (uint64_t)(bytes[i] >> 3) << (bytes[i] & 31);
		now &= UINT64_MAX >> 2;
		h.times[h.count] = now;
		h.states[h.count] = bytes[i] & 3;
		sn_tracebuffer_record(&h.buffer, bytes[i] & 3, now);
		h.count++;
		if (bytes[i] & 4)
			compare(&h);
	}
	compare(&h);
	sn_tracebuffer_free(&h.buffer, &sn_memory_libc);
	return 0;
}
