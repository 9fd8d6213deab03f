/* SPDX-License-Identifier: Apache-2.0 */
/* split_mappings.h - stacks whose guards split mappings, and how many of them
 * have one. */
#ifndef SN_TEST_SPLIT_MAPPINGS_H
#define SN_TEST_SPLIT_MAPPINGS_H

#include "core/stack.h"

#include "stacks.h"

/* Make stacks for which the process may split mappings for `guards` guards
 * only. */
static inline void make_by_mapping(struct stacks *s, uint32_t guards)
{
	make(s, 0);
	s->slabs.guards.kind = OS_GUARD_MAPPING;
	s->slabs.guards.limit = guards;
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
