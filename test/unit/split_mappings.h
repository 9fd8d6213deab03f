/* SPDX-License-Identifier: Apache-2.0 */
/* split_mappings.h - stacks whose guards split mappings, and how many of them
 * have one. Others have canaries, or are refused. */
#ifndef SN_TEST_SPLIT_MAPPINGS_H
#define SN_TEST_SPLIT_MAPPINGS_H

#include "os/os.h"
#include "stack/stack.h"

#include "stacks.h"

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
	sn_stacks_allow_canaries(s);
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
