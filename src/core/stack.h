/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - a scheduler's source of guarded stacks.
 *
 * Stacks come from slabs (slab.h) and are never unmapped while the scheduler
 * lives. Those given back rest in a depot, last in first out, as they were
 * left; those trimmed are clean again: without memory, but still guarded.
 *
 *	clean --take--> taken --give--> resting --take--> taken
 *	  ^               |                |
 *	  +--- return ----+----- trim -----+
 *
 * Where the system has cheap guards (they need no mapping of their own), every
 * stack has one. Elsewhere a guard splits the mapping, and a process may have
 * only so many mappings: the library uses up to a quarter of them, and further
 * stacks carry a canary, whose loss is found when the stack is next looked at.
 *
 * Invariants
 *   - low of a stack never changes, and its link says whether it is guarded:
 *     so whoever holds a stack knows that without asking anybody.
 *   - made = taken + resting + those on their way to be clean.
 *   - the link is ours. [low, low + usable) is kept as it was left; a clean
 *     stack reads as zeros and costs no memory, unless it is unguarded.
 */
#ifndef SN_STACK_H
#define SN_STACK_H

#include "base/atomic.h"
#include "core/slab.h"

#include <pthread.h>

struct stacks {
	uint32_t limit;  /* fixed */
	a_u32    scarce; /* any: the last who asked got fewer */

	_Alignas(CACHE_LINE) pthread_mutex_t lock;
	struct slabs slabs;   /* under lock, but for what is fixed */
	struct node *depot;   /* under lock */
	uint32_t     made;    /* under lock */
	uint32_t     resting; /* under lock; in the depot */
	uint32_t     unused;  /* under lock; the fewest of these since last
				  * asked */
	uint64_t     trimmed; /* under lock; how many were, ever */
};

/* What there is, of one moment. */
struct stacks_count {
	uint32_t made;
	uint32_t resting;
	uint64_t trimmed;
	uint32_t unguarded; /* of those made, resting or clean */
	uint64_t bytes;     /* mapped, all told */
};

/* Prepare *s; nothing is mapped before the first stack is taken. Both
 * sizes are rounded up to pages: of a stack, and of the guard below it, which
 * costs addresses. limit: the most stacks at once, 0 for no limit. *memory must
 * outlive *s.
 * Returns 0, -EINVAL for a size beyond the address space, or -ENOMEM. */
int sn_stacks_init(struct stacks *s, const sennit_allocator *memory,
		   size_t stack_size, size_t guard_size, uint32_t limit);

/* Unmap everything. All stacks were given back. */
void sn_stacks_free(struct stacks *s);

/* Take up to max stacks: low[i] is the lowest usable address. Returns how many
 * there were; fewer when the limit is reached or there is no memory. Any
 * thread. */
uint32_t sn_stacks_take(struct stacks *s, void *low[], uint32_t max);

/* Whether the last who asked for stacks got fewer: a guess. Any thread. */
static inline bool sn_stacks_are_scarce(const struct stacks *s)
{
	return a_load_rlx(&s->scarce);
}

/* The same in two steps: set one stack aside, untouched and without a guard,
 * NULL when there is none; and take it, which never fails. Or drop it: nobody
 * gets it then. Any thread. */
void *sn_stacks_set_aside(struct stacks *s);
void *sn_stacks_take_aside(struct stacks *s, void *bottom);
void  sn_stacks_drop_aside(struct stacks *s);

/* Give stacks back, for others to take; their contents are kept. Any thread. */
void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count);

/* Give stacks back, and their memory to the system. Any thread. */
void sn_stacks_return(struct stacks *s, void *const low[], uint32_t count);

/* The same for some that rest in the depot, `most` of them; returns how many.
 * Any thread. */
uint32_t sn_stacks_trim(struct stacks *s, uint32_t most);

/* How many of those in the depot nobody has needed since this was last called.
 * Any thread. */
uint32_t sn_stacks_unused(struct stacks *s);

/* Usable bytes from low up; low + usable is a multiple of 64. */
static inline size_t sn_stacks_usable(const struct stacks *s)
{
	return sn_slabs_usable(&s->slabs);
}

/* Any thread. */
struct stacks_count sn_stacks_count(struct stacks *s);

/* Whether the address lies in one of the stacks. Any thread. */
bool sn_stacks_contain(struct stacks *s, uintptr_t address);

/* Has every stack a guard page? Any thread. */
bool sn_stacks_guarded(struct stacks *s);

/* Whether the stack has a canary instead of a guard page. */
static inline bool sn_stack_has_canary(const struct stacks *s, void *low)
{
	return sn_slabs_link(&s->slabs, low)->is_bare;
}

/* Abort when the stack has a canary and lost it: whatever ran there used more
 * than there was. For stacks that are used again without being given back. */
void sn_stack_check(const struct stacks *s, void *low);

#endif
