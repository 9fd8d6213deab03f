/* SPDX-License-Identifier: Apache-2.0 */
/* scarce.h - memory that runs out, and blocks that are signed. */
#ifndef SN_TEST_SCARCE_H
#define SN_TEST_SCARCE_H

#include "base/memory.h"
#include "queue/blocks.h"
#include "queue/task.h"
#include "testing/test.h"

/* --- scarce ------------------------------------------------------------ */

/* An allocator that counts, and fails after `left` allocations. */

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

/* --- signed block ------------------------------------------------------ */

/* Blocks of a pool that carry the mark of their holder. */

#define WORDS (POOL_BLOCK / sizeof(uintptr_t))

/* Fill the whole block with a number, so that an overlap is detected. */
static inline void sign(void *block, uintptr_t number)
{
	uintptr_t *word = block;

	for (size_t i = 0; i < WORDS; i++)
		word[i] = number;
}

static inline bool is_signed(const void *block, uintptr_t number)
{
	const uintptr_t *word = block;

	for (size_t i = 0; i < WORDS; i++)
		if (word[i] != number)
			return false;
	return true;
}

#endif
