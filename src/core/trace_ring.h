/* SPDX-License-Identifier: Apache-2.0 */
/* trace_ring.h - the most recent events of one thread, in a ring.
 *
 *	words    four of each event: time, { fiber | kind | detail }, a, b
 *	written  events so far; event i lies at i % capacity
 *	first    the first event of this recording
 *
 * One thread writes, or several under a lock. Any thread reads, at any time: it
 * copies an event and reads `written` again. The event is whole if the writer
 * cannot have begun to overwrite it, that is, if written < i + capacity.
 *
 * Checked by test/model/trace_ring.pml.
 */
#ifndef SN_TRACE_RING_H
#define SN_TRACE_RING_H

#include "base/atomic.h"
#include "sennit/trace_format.h"

enum { TRACE_RING_WORDS = 4 };

struct trace_ring {
	struct trace_ring *next;     /* fixed once the ring is listed */
	a_u64             *words;    /* writer writes */
	uint64_t           capacity; /* fixed: events, a power of two */
	a_u64              written;  /* writer writes */
	a_u64              first;    /* writer writes */
	bool               ticks;  /* fixed: times are arch_ticks, not os_now */
	uint32_t           number; /* fixed */
	uint32_t           kind;   /* fixed: enum sennit_trace_ring_kind */
	a_u32              thread; /* any: the system's number of the writer;
				      * 0: none yet, or several */
	bool               taken;  /* under the lock of the list: it belongs
				      * to a thread */
};

/* Returns a ring of `capacity` events, a power of two. It allocates pages of
 * the system, which are in use only once they are written. NULL: out of
 * memory. */
struct trace_ring *sn_trace_ring_make(uint64_t capacity);
void               sn_trace_ring_free(struct trace_ring *r);

/* The time of an event that happens now. */
uint64_t sn_trace_ring_now(bool ticks);

/* Forget all events. Writer only. */
void sn_trace_ring_begin(struct trace_ring *r);

/* Append an event that happens now on `fiber`. Writer only. */
void sn_trace_ring_add(struct trace_ring *r, uint32_t fiber, uint32_t kind,
		       uint32_t detail, uint64_t a, uint64_t b);

/* The events that are in the ring: [*begin, *end). The oldest may be
 * overwritten any time. */
void sn_trace_ring_range(struct trace_ring *r, uint64_t *begin, uint64_t *end);

/* Copy event i of the range. If it was overwritten, *out is an event of kind
 * SENNIT_TRACED_NONE. */
void sn_trace_ring_read(struct trace_ring *r, uint64_t i,
			struct sennit_trace_event *out);

#endif
