/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - a scheduler's supply of guarded stacks.
 *
 * Stacks come from slabs (slab.c) and stay mapped while the scheduler lives.
 * Stacks that were given back rest in a depot, last in first out, with their
 * contents. Trimmed stacks are clean again: they use no memory, but are still
 * guarded.
 *
 *	clean --take--> taken --give--> resting --take--> taken
 *	  ^               |                |
 *	  +--- return ----+----- trim -----+
 *
 * If the system has cheap guards, which need no mapping of their own, every
 * stack has one. Otherwise a guard splits the mapping, and the number of
 * mappings of a process is limited. The library uses at most a quarter of that
 * limit, except for a few stacks of each scheduler. Further stacks are refused,
 * unless canaries are allowed. They have one instead of a guard then; a changed
 * canary is found when the stack is next checked.
 *
 * The first slab may be that of a scheduler that has ended (slab.c). Its
 * clean stacks contain what was left there.
 *
 * Invariants
 *   - `low` of a stack never changes, and the stack's link says whether
 *     it is guarded. So the holder of a stack knows both without a lock.
 *   - made = taken + resting + stacks that are being wiped.
 *   - The link belongs to this module. A resting stack keeps the contents
 *     of [low, low + usable). A clean stack reads as zeros and uses no
 *     memory, unless it is unguarded or of an earlier scheduler.
 */
#ifndef SN_STACK_H
#define SN_STACK_H

#include "stack/slab.h"

#include <pthread.h>
#include <stdbool.h>

struct stacks {
	uint32_t limit;   /* fixed */
	a_u32    scarce;  /* any: 1: the last request got fewer stacks than it
			  * asked for */
	a_u32    limited; /* any: 1: there is a limit, or a stack was refused:
			   * who has idle ones shares them. Never 0 again */

	_Alignas(CACHE_LINE) pthread_mutex_t lock;
	struct slabs slabs;   /* under lock, except for its fixed fields */
	struct node *depot;   /* under lock: the resting stacks */
	uint32_t     made;    /* under lock */
	uint32_t     resting; /* under lock: number of stacks in the depot */
	uint32_t     unused;  /* under lock: the minimum of `resting` since
			       * sn_stacks_unused */
	uint64_t     trimmed; /* under lock: number of stacks trimmed so far */
};

/* A consistent snapshot of the counts. */
struct stacks_count {
	uint32_t made;
	uint32_t resting;
	uint64_t trimmed;
	uint32_t unguarded; /* carved stacks without a guard */
	bool     no_guard;  /* the last new stack got no guard */
	uint64_t bytes;     /* all mapped bytes */
};

/* Prepare *s; nothing is mapped before the first stack is taken. Sizes are in
 * bytes and rounded up to pages: stack_size of a stack, guard_size of the guard
 * below it, which uses address space only. limit is the maximum number of
 * stacks at once, 0 for no limit. *memory must outlive *s. Returns 0, -EINVAL
 * for a size beyond the address space, or -ENOMEM. */
int sn_stacks_init(struct stacks *s, const sennit_allocator *memory,
		   size_t stack_size, size_t guard_size, uint32_t limit);

/* Unmap everything. All stacks must have been given back. */
void sn_stacks_free(struct stacks *s);

/* Take up to `max` stacks. Returns the links at their tops as a chain; NULL if
 * the limit is reached, or there is no memory or no guard. Any thread. */
struct node *sn_stacks_take(struct stacks *s, uint32_t max);

/* The lowest usable address of the stack that has this link. */
static inline void *sn_stack_of(const struct stacks *s, struct node *link)
{
	return (char *)container_of(link, struct stack_link, node) -
	       sn_slabs_usable(&s->slabs);
}

/* Whether the last request got no stack; a hint. Any thread. */
static inline bool sn_stacks_are_scarce(const struct stacks *s)
{
	return a_load_rlx(&s->scarce);
}

/* Whether idle stacks must be shared, because others may get none. Once true it
 * stays so. Any thread. */
static inline bool sn_stacks_are_limited(const struct stacks *s)
{
	return a_load_rlx(&s->limited); /* relaxed: a late answer is looked at
					 * again before a sleep */
}

/* Whether that may become true for lack of guards, or is true. Fixed. */
bool sn_stacks_may_be_limited(const struct stacks *s);

/* The same in two steps. sn_stacks_set_aside reserves one stack, untouched,
 * with its guard; NULL when there is none. sn_stacks_take_aside takes it and
 * never fails. sn_stacks_drop_aside drops it instead; no one gets that stack
 * then. Any thread. */
void *sn_stacks_set_aside(struct stacks *s);
void *sn_stacks_take_aside(struct stacks *s, void *bottom);
void  sn_stacks_drop_aside(struct stacks *s);

/* Give stacks back for others to take. Their contents are kept. Any thread. */
void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count);

/* Give stacks back, and return their memory to the system. Those that it
 * refuses rest. Any thread. */
void sn_stacks_return(struct stacks *s, void *const low[], uint32_t count);

/* Return the memory of up to `most` resting stacks, at most STACK_BATCH, to the
 * system. Returns the number of those that it did not refuse. Any thread. */
uint32_t sn_stacks_trim(struct stacks *s, uint32_t most);

/* The number of resting stacks that were not needed since the last call. Any
 * thread. */
uint32_t sn_stacks_unused(struct stacks *s);

/* The number of usable bytes above `low`. low + usable is a multiple of 64. */
static inline size_t sn_stacks_usable(const struct stacks *s)
{
	return sn_slabs_usable(&s->slabs);
}

/* Any thread. */
struct stacks_count sn_stacks_count(struct stacks *s);

/* Whether the address lies in any of the stacks. Any thread. */
bool sn_stacks_contain(struct stacks *s, uintptr_t address);

/* Whether every stack has a guard page. Any thread. */
bool sn_stacks_guarded(struct stacks *s);

/* Whether the stack has a canary instead of a guard page. */
static inline bool sn_stack_has_canary(const struct stacks *s, void *low)
{
	return sn_slabs_link(&s->slabs, low)->is_bare;
}

/* Abort if the stack has a canary that was changed: the code that ran there
 * used more than the stack. For stacks that are reused without being given
 * back. */
void sn_stack_check(const struct stacks *s, void *low);

#endif
