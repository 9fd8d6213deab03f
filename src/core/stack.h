/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - a scheduler's source of guarded stacks.
 *
 * Stacks are mapped by the slab, guarded by the batch, and never unmapped while
 * the scheduler lives: those given back rest in a depot, last in first out.
 * One pitch of a slab is one stack; its guard page is taken from its size:
 *
 *	guarded     [ guard page | usable ...            | link ]
 *	                         ^ low                   ^ low + usable
 *	unguarded   [ spare | canary | usable ...  | link | pad ]
 *	                             ^ low         ^ low + usable
 *
 * Where the system has cheap guards (they need no mapping of their own), every
 * stack has one. Elsewhere a guard splits the mapping, and a process may have
 * only so many mappings: the library uses up to a quarter of them, and further
 * stacks carry a canary, whose loss is found when the stack is next looked at.
 *
 * Invariants
 *   - low is at the start of a page iff the stack is guarded: so whoever holds
 *     a stack knows whether it has a canary, without asking anybody.
 *   - the link is ours. [low, low + usable) is kept as it was left; a stack
 *     that was never taken before reads as zeros and has cost no memory yet,
 *     unless it is unguarded.
 */
#ifndef SN_STACK_H
#define SN_STACK_H

#include "base/compiler.h"
#include "base/list.h"
#include "os/os.h"
#include "sennit/base.h"

#include <pthread.h>

/* Stacks that are guarded by one system call. */
#define STACK_BATCH 32

struct slab;

struct stacks {
	const sennit_allocator *memory; /* fixed */
	size_t                  page;   /* fixed */
	size_t                  pitch;  /* fixed */
	uint32_t                limit;  /* fixed */
	enum os_guard           kind;   /* fixed */

	pthread_mutex_t lock;
	uint32_t mapping_limit; /* under lock; most guards of the process that
				 * split mappings; UINT32_MAX: not asked yet */
	struct node *depot;     /* under lock */
	struct slab *slabs;     /* under lock; newest first */
	uint32_t     made;      /* under lock; ever taken */
	uint32_t     resting;   /* under lock; in the depot */
	uint32_t     unguarded; /* under lock; ever carved */
	uint32_t     mapping_guards;     /* under lock; ours of the process's */
	uint32_t     fresh_count;        /* under lock */
	void        *fresh[STACK_BATCH]; /* under lock; never taken */
};

/* Prepare *s; nothing is mapped before the first stack is taken. stack_size is
 * rounded up to pages, and includes the guard page unless that would be more
 * than a quarter of it (systems with large pages). limit: the most stacks at
 * once, 0 for no limit. *memory must outlive *s.
 * Returns 0, -EINVAL for a size beyond the address space, or -ENOMEM. */
int sn_stacks_init(struct stacks *s, const sennit_allocator *memory,
		   size_t stack_size, uint32_t limit);

/* Unmap everything. All stacks were given back. */
void sn_stacks_free(struct stacks *s);

/* Take up to max stacks: low[i] is the lowest usable address. Returns how many
 * there were; fewer when the limit is reached or there is no memory. Any
 * thread. */
uint32_t sn_stacks_take(struct stacks *s, void *low[], uint32_t max);

/* The same in two steps: set one stack aside, untouched and without a guard,
 * NULL when there is none; and take it, which never fails. Or drop it: nobody
 * gets it then. Any thread. */
void *sn_stacks_set_aside(struct stacks *s);
void *sn_stacks_take_aside(struct stacks *s, void *bottom);
void  sn_stacks_drop_aside(struct stacks *s);

/* Give stacks back, for others to take; their contents are kept. Any thread. */
void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count);

/* Usable bytes from low up; low + usable is a multiple of 64. */
size_t sn_stacks_usable(const struct stacks *s);

/* Whether the address lies in one of the stacks. Any thread. */
bool sn_stacks_contain(struct stacks *s, uintptr_t address);

/* Stacks in existence: taken or in the depot. Any thread. */
uint32_t sn_stacks_made(struct stacks *s);

/* Has every stack so far a guard page? Any thread. */
bool sn_stacks_guarded(struct stacks *s);

/* Whether the stack has a canary instead of a guard page. */
static inline bool sn_stack_has_canary(const struct stacks *s, const void *low)
{
	return (uintptr_t)low & (s->page - 1);
}

/* Abort when the stack has a canary and lost it: whatever ran there used more
 * than there was. For stacks that are used again without being given back. */
void sn_stack_check(const struct stacks *s, void *low);

#endif
