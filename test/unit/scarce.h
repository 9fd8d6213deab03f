/* SPDX-License-Identifier: Apache-2.0 */
/* scarce.h - an allocator that counts, and fails after `left` allocations. */
#ifndef SN_TEST_SCARCE_H
#define SN_TEST_SCARCE_H

#include "base/memory.h"

struct scarce {
	unsigned left;
	unsigned held;
	size_t   bytes; /* allocated bytes */
};

#define SCARCE(s)                                    \
	{                                            \
		scarce_allocate, scarce_release, (s) \
	}

static inline void *scarce_allocate(void *context, size_t size,
				    size_t alignment)
{
	struct scarce *s = context;

	if (s->left == 0)
		return NULL;
	s->left--;
	s->held++;
	s->bytes += size;
	return sn_memory_libc.allocate(NULL, size, alignment);
}

static inline void scarce_release(void *context, void *memory, size_t size)
{
	struct scarce *s = context;

	s->held--;
	s->bytes -= size;
	sn_memory_libc.release(NULL, memory, size);
}

#endif
