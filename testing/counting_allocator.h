/* SPDX-License-Identifier: Apache-2.0 */
/* counting_allocator.h - allocators that count what they gave, and that keep
 * what comes back. */
#ifndef SN_TEST_COUNTING_ALLOCATOR_H
#define SN_TEST_COUNTING_ALLOCATOR_H

#include "sennit.h"
#include "with_workers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- counting allocator ------------------------------------------------ */

/* An allocator that counts its memory and fails on
 * demand.
 *
 *	struct counting_allocator            w = { .failing = 3 };
 *	const sennit_allocator a = COUNTING_ALLOCATOR(&w); */

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

/* --- keeping allocator ------------------------------------------------- */

/* An allocator that counts, and keeps freed memory: the
 * library must detect an access to an ended object, not a tool. */

struct keeping_allocator {
	atomic_uint taken, given;
	atomic_uint wrong_size;
	size_t      size; /* of the most recent block */
	bool        empty;
	_Alignas(16) unsigned char room[8][128];
};

static inline void *keeping_take(void *context, size_t size, size_t alignment)
{
	struct keeping_allocator *kept = context;
	const unsigned            n = atomic_load(&kept->taken);

	if (kept->empty || n == 8 || size > sizeof(kept->room[n]) ||
	    alignment > 16)
		return NULL;
	atomic_store(&kept->taken, n + 1);
	kept->size = size;
	return kept->room[n];
}

static inline void keeping_give(void *context, void *memory, size_t size)
{
	struct keeping_allocator *kept = context;

	(void)memory;
	if (size != kept->size)
		atomic_fetch_add(&kept->wrong_size, 1);
	atomic_fetch_add(&kept->given, 1);
}

static inline sennit_allocator keeping(struct keeping_allocator *kept)
{
	return (sennit_allocator){ keeping_take, keeping_give, kept };
}

static inline bool is_given_back(struct keeping_allocator *kept, unsigned n)
{
	return atomic_load(&kept->taken) == n &&
	       atomic_load(&kept->given) == n &&
	       atomic_load(&kept->wrong_size) == 0;
}

#endif
