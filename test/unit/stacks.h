/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - takes and gives stacks of 64 KiB one at a time. */
#ifndef SN_TEST_STACKS_H
#define SN_TEST_STACKS_H

#include "../test.h"

#include "base/memory.h"
#include "stack/stack.h"

#define SIZE  ((size_t)64 * 1024)
#define GUARD ((size_t)68 * 1024)

/* Without the slab of an earlier test. */
static inline void make(struct stacks *s, uint32_t limit)
{
	sn_kept_slab_drop();
	assert_int_equal(sn_stacks_init(s, &sn_memory_libc, SIZE, GUARD, limit),
			 0);
}

static inline void *take_one(struct stacks *s)
{
	void *low = NULL;

	assert_int_equal(sn_stacks_take(s, &low, 1), 1);
	assert_non_null(low);
	return low;
}

static inline void give_one(struct stacks *s, void *low)
{
	sn_stacks_give(s, &low, 1);
}

/* For qsort: compares two stacks. */
static inline int by_address(const void *a, const void *b)
{
	const char *x = *(char *const *)a;
	const char *y = *(char *const *)b;

	return (x > y) - (x < y);
}

#endif
