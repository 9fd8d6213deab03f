/* SPDX-License-Identifier: Apache-2.0 */
/* slab.h - mappings that hold many stacks each, the guards of the stacks, and
 * the set of clean stacks.
 *
 *	slab        [ stack | stack | stack | ... ]
 *	guarded     [ guard            | usable ...       | link ]
 *	unguarded   [ a gap   | canary | usable ...       | link ]
 *	                               ^ low              ^ low + usable
 *
 *	uncarved --guarded, by the batch--> clean --> taken --cleaned--> clean
 *	    ^                                                              |
 *	    +----------- all carved stacks of the slab are clean ----------+
 *
 * A clean stack uses no memory and reads as zeros, except for its guard or
 * canary; in a slab of an earlier scheduler it may be as that one left it. A
 * slab whose carved stacks are all clean and cheaply guarded is mapped anew at
 * the same address, which frees its page tables. The addresses stay mapped, so
 * late readers find zeros there. A stack that is taken again has the same
 * address and size, with a guard or without.
 *
 * The owner of a struct slabs holds its lock for every call except
 * sn_slabs_touch and sn_slabs_wipe.
 *
 * Invariants
 *   - `low` depends only on the slab and the stack's index in it.
 *   - Only if canaries are allowed is there a stack without a guard. It
 *     never gets one. A stack with a costly guard keeps it.
 *   - The link of a taken stack names its slab, and says whether the
 *     stack has a guard.
 *   - The system may list what it does for several stacks in the top page of
 *     the first of them, which is taken at once (os_guard, os_populate): below
 *     the record of a fiber, where late readers look.
 */
#ifndef SN_SLAB_H
#define SN_SLAB_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/list.h"
#include "sennit/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- guards --------------------------------------------------------------- */

/* The guards below stacks.
 *
 * A cheap guard needs no mapping of its own. A costly one splits the mapping;
 * the process counts those, because the number of its mappings is limited. Some
 * of them are a holder's share.
 */

struct guards {
	uint32_t kind;    /* fixed: enum os_guard: what the system has */
	uint32_t limit;   /* maximum number of costly guards in the process;
			   * UINT32_MAX: not queried yet */
	uint32_t costly;  /* this holder's share of them */
	uint32_t assured; /* this share may be as large in any case */
};

/* Write once in the process to standard error that a stack got no guard. */
void sn_guards_tell_refused(struct guards *g);

/* --- slab ----------------------------------------------------------------- */

/* Stacks that are guarded at a time. */
#define STACK_BATCH 32

/* Bytes; keeps low + usable a multiple of 64. */
#define SLAB_LINK_ROOM 64

struct slab;

struct slabs {
	const sennit_allocator *memory; /* fixed */
	size_t                  page;   /* fixed */
	size_t                  gap;    /* fixed: bytes below a stack, its
					 * guard */
	size_t                  pitch;  /* fixed: bytes of one stack with its
					 * gap */
	bool canaries;                  /* fixed: a stack that can get no guard
					 * gets a canary; else it is refused */

	struct guards guards;
	struct slab  *newest;
	struct slab  *looked;    /* where the last search ended */
	uint64_t      bytes;     /* mapped bytes */
	uint32_t      clean;     /* clean stacks */
	uint32_t      carved;    /* carved stacks */
	uint32_t      uncarved;  /* uncarved stacks */
	uint32_t      unguarded; /* carved stacks without a guard */
	bool          no_guard;  /* the last stack that was to be carved got no
				  * guard */
};

/* Lies at the top of a stack, in a page that is in use anyway. At the bottom it
 * would cost one more page. */
struct stack_link {
	struct node  node;    /* belongs to the holder of the stack */
	struct slab *slab;    /* fixed while taken */
	bool         is_bare; /* fixed while taken: it has no guard */
};

/* Prepare *s; nothing is mapped yet. Both sizes are in bytes, must not be 0,
 * and are rounded up to pages. Returns 0, or -EINVAL for a size beyond the
 * address space. */
int sn_slabs_init(struct slabs *s, const sennit_allocator *memory,
		  size_t stack_size, size_t guard_size);
/* Unmap all slabs, except for one that the process keeps: see below. */
void sn_slabs_free(struct slabs *s);

/* Stacks that were taken, next to each other, and whose memory nobody has
 * touched yet. */
struct slab_run {
	char        *low;     /* the lowest usable address of the first */
	struct slab *slab;    /* for their links */
	uint32_t     count;   /* 0: none */
	bool         is_bare; /* for their links */
};

/* Take up to `wanted` clean stacks, at least one, unless there is no memory, or
 * no guard. `most`, at least 1, is the number of stacks that may still be
 * mapped. */
struct slab_run sn_slabs_take(struct slabs *s, uint32_t wanted, uint32_t most);

/* Reserve a clean or an uncarved stack without touching it; NULL when there is
 * no memory, or the system refuses a guard. It gets one even if the process has
 * too many of them. sn_slabs_take_aside then takes that stack. */
void           *sn_slabs_set_aside(struct slabs *s, uint32_t most);
struct slab_run sn_slabs_take_aside(struct slabs *s, void *bottom);

/* Write the links of stacks that were taken, and their canaries. Returns the
 * links as a chain. For whoever took them, without the lock: the system finds
 * memory meanwhile, for several at once, which takes longer than all other
 * steps. Like sn_slabs_take it uses little stack, as it runs on that of a fiber
 * which may never need more than one page. */
struct node *sn_slabs_touch(const struct slabs *s, const struct slab_run *run);

/* Return the memory of a taken stack to the system. Any thread, without the
 * lock. The caller must call sn_slabs_give afterwards. Returns false if the
 * system refuses: the stack is still taken then. */
bool sn_slabs_wipe(const struct slabs *s, void *low);

/* Mark a taken stack as clean after sn_slabs_wipe. `slab` is the slab that the
 * stack's link named before the wipe. */
void sn_slabs_give(struct slabs *s, struct slab *slab, void *low);

/* The number of usable bytes above `low`. low + usable is a multiple of 64. */
static inline size_t sn_slabs_usable(const struct slabs *s)
{
	return s->pitch - s->gap - SLAB_LINK_ROOM;
}

static inline struct stack_link *sn_slabs_link(const struct slabs *s, void *low)
{
	return (struct stack_link *)(void *)((char *)low + sn_slabs_usable(s));
}

/* Whether the address lies in any of the stacks, taken or not. */
bool sn_slabs_contain(const struct slabs *s, uintptr_t address);

/* Whether the taken stack has a canary that was changed. */
bool sn_slabs_is_overrun(const struct slabs *s, void *low);

/* --- kept slab ------------------------------------------------------------ */

/* The slab that the process keeps after the end of a scheduler, for the next
 * one, as libc keeps the stacks of threads.
 *
 *	empty --put--> full --take, drop--> empty
 *	   \--- busy, for some instructions ---/
 *
 * It is one mapping of at most KEPT_SLAB_MOST bytes, with its guards and with
 * what its stacks contain. It goes back to the system when a scheduler is
 * trimmed, and when another slab takes its place. A thread that finds it busy
 * does without. No lock is held, so a fork at any time leaves a child that
 * works: sn_kept_slab_fork.
 */

#define KEPT_SLAB_MOST ((size_t)2 << 20)

/* Give the slab back to the system, if there is one. Any thread. */
void sn_kept_slab_drop(void);

/* In the child of a fork: a thread that was about to take or put it is gone. */
void sn_kept_slab_fork(void);

#endif
