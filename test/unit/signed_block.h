/* SPDX-License-Identifier: Apache-2.0 */
/* signed_block.h - blocks of a pool that carry the mark of their holder. */
#ifndef SN_TEST_SIGNED_BLOCK_H
#define SN_TEST_SIGNED_BLOCK_H

#include "queue/task.h"

#include "base/memory.h"

#include "../test.h"

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
