/* SPDX-License-Identifier: Apache-2.0 */
/* ward.h - an allocator that counts its memory and fails on demand.
 *
 *	struct ward            w = { .failing = 3 };
 *	const sennit_allocator a = WARD(&w);
 */
#ifndef SN_TEST_WARD_H
#define SN_TEST_WARD_H

#include "sennit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ward {
	atomic_uint  calls;
	atomic_uint  failing; /* index of the call that fails; 0: none */
	atomic_bool  dry;     /* all calls fail */
	atomic_long  live;    /* blocks that were not released */
	atomic_llong bytes;   /* bytes of these blocks */
};

#define WARD(w)                                                             \
	{                                                                   \
		.allocate = ward_take, .release = ward_give, .context = (w) \
	}

static inline void *ward_take(void *ward, size_t size, size_t alignment)
{
	struct ward *w = ward;
	void        *memory;

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

static inline void ward_give(void *ward, void *memory, size_t size)
{
	struct ward *w = ward;

	memset(memory, 0x5a, size);
	free(memory);
	atomic_fetch_sub(&w->live, 1);
	atomic_fetch_sub(&w->bytes, (long long)size);
}

#endif
