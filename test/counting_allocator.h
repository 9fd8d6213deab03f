/* SPDX-License-Identifier: Apache-2.0 */
/* counting_allocator.h - an allocator that counts its memory and fails on
 * demand.
 *
 *	struct counting_allocator            w = { .failing = 3 };
 *	const sennit_allocator a = COUNTING_ALLOCATOR(&w);
 */
#ifndef SN_TEST_COUNTING_ALLOCATOR_H
#define SN_TEST_COUNTING_ALLOCATOR_H

#include "sennit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counting_allocator {
	atomic_uint  calls;
	atomic_uint  failing; /* index of the call that fails; 0: none */
	atomic_bool  dry;     /* all calls fail */
	atomic_long  live;    /* blocks that were not released */
	atomic_llong bytes;   /* bytes of these blocks */
};

#define COUNTING_ALLOCATOR(w)                                        \
	{                                                            \
		.allocate = counting_take, .release = counting_give, \
		.context = (w)                                       \
	}

static inline void *counting_take(void *tally, size_t size, size_t alignment)
{
	struct counting_allocator *w = tally;
	void                      *memory;

	if (!size || !alignment || alignment & (alignment - 1)) {
		fprintf(stderr, "asked for %zu bytes, aligned to %zu\n", size,
			alignment);
		abort();
	}
	if (atomic_fetch_add(&w->calls, 1) + 1 == atomic_load(&w->failing) ||
	    atomic_load(&w->dry))
		return NULL;
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (posix_memalign(&memory, alignment, size))
		return NULL;
	memset(memory, 0xa5, size);
	atomic_fetch_add(&w->live, 1);
	atomic_fetch_add(&w->bytes, (long long)size);
	return memory;
}

static inline void counting_give(void *tally, void *memory, size_t size)
{
	struct counting_allocator *w = tally;

	memset(memory, 0x5a, size);
	free(memory);
	atomic_fetch_sub(&w->live, 1);
	atomic_fetch_sub(&w->bytes, (long long)size);
}

#endif
