/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - stacks and their mappings. */
#ifndef SN_TEST_STACKS_H
#define SN_TEST_STACKS_H

#include "testing/test.h"
#include "base/memory.h"
#include "os/os.h"
#include "stack/slab.h"
#include "stack/stack.h"

/* --- stacks ------------------------------------------------------------ */

/* Takes and gives stacks of 64 KiB one at a time. */

#define SIZE  ((size_t)64 * 1024)
#define GUARD ((size_t)68 * 1024)

/* Without the slab of an earlier test. */
static inline void make(struct stacks *s, uint32_t limit)
{
	sn_kept_slab_drop();
	assert_int_equal(sn_stacks_init(s, &sn_memory_libc, SIZE, GUARD, limit),
			 0);
}

/* Take up to `max` stacks, by several calls if need be. Returns how many. */
static inline uint32_t take_stacks(struct stacks *s, void *low[], uint32_t max)
{
	uint32_t     n = 0;
	struct node *chain;

	while (n < max && (chain = sn_stacks_take(s, max - n)))
		for (; chain; chain = chain->next)
			low[n++] = sn_stack_of(s, chain);
	return n;
}

static inline void *take_one(struct stacks *s)
{
	void *low = NULL;

	assert_int_equal(take_stacks(s, &low, 1), 1);
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

/* --- split mappings ---------------------------------------------------- */

/* Stacks whose guards split mappings, and how many of them
 * have one. Others have canaries, or are refused. */

/* Make stacks for which the process may split mappings for `guards` guards
 * only. Without a guard there is no stack. */
static inline void make_guarded(struct stacks *s, uint32_t guards)
{
	make(s, 0);
	s->slabs.guards.kind = OS_GUARD_MAPPING;
	s->slabs.guards.limit = guards;
	s->slabs.guards.assured = 0;
}

/* The same, but without a guard there is a canary. */
static inline void make_by_mapping(struct stacks *s, uint32_t guards)
{
	make_guarded(s, guards);
	s->slabs.canaries = true;
}

static inline size_t count_guarded(const struct stacks *s, void *const low[],
				   size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !sn_stack_has_canary(s, low[i]);
	return n;
}

#endif
