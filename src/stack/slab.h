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
 * canary; in a slab of an earlier scheduler (slab.h) it may be as that one
 * left it. A slab whose carved stacks are all clean and cheaply guarded is
 * mapped anew at the same address, which frees its page tables. The addresses
 * stay mapped, so late readers find zeros there. A stack that is taken again
 * has the same address and size, with a guard or without.
 *
 * The owner of a struct slabs holds its lock for every call except
 * sn_slabs_wipe.
 *
 * Invariants
 *   - `low` depends only on the slab and the stack's index in it.
 *   - Only if canaries are allowed is there a stack without a guard. It
 *     never gets one. A stack with a costly guard keeps it.
 *   - The link of a taken stack names its slab, and says whether the
 *     stack has a guard.
 */
#ifndef SN_SLAB_H
#define SN_SLAB_H

#include "base/compiler.h"
#include "base/list.h"
#include "os/os.h"
#include "sennit/base.h"

#include <stdbool.h>

/* --- guards --------------------------------------------------------------- */

/* The guards below stacks.
 *
 * A cheap guard needs no mapping of its own. A costly one splits the mapping;
 * the process counts those, because the number of its mappings is limited. Some
 * of them are a holder's share, which it gives up with sn_guards_free.
 */

struct guards {
	enum os_guard kind;   /* fixed: what the system has */
	uint32_t      limit;  /* maximum number of costly guards in the process;
			     * UINT32_MAX: not queried yet */
	uint32_t      costly; /* this holder's share of them */
	uint32_t      assured; /* this share may be as large in any case */
};

void sn_guards_init(struct guards *g);
void sn_guards_free(struct guards *g);

/* Make cheap guards of `size` bytes at bottom + i * pitch for each i < count.
 * Returns false if the system refuses; some of them may then be there. */
bool sn_guards_make_cheap(const struct guards *g, void *bottom, size_t pitch,
			  size_t count, size_t size);

/* Make a costly guard, unless the process already has too many of them and the
 * share is as large as assured. With `must` only the system can refuse it. */
bool sn_guards_make_costly(struct guards *g, void *bottom, size_t size,
			   bool must);

/* Write once in the process to standard error that a stack got no guard. */
void sn_guards_tell_refused(struct guards *g);

/* sn_guards_leave takes costly guards out of the share; they stay counted.
 * sn_guards_adopt adds such guards to another share. sn_guards_drop ends their
 * count. */
void sn_guards_leave(struct guards *g, uint32_t costly);
void sn_guards_adopt(struct guards *g, uint32_t costly);
void sn_guards_drop(uint32_t costly);

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
	bool          refused;   /* the last stack that was to be carved got no
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
/* Unmap all slabs, except for one that the process keeps: see slab.h. */
void sn_slabs_free(struct slabs *s);

/* Take a clean stack. Returns its lowest usable address, or NULL when there is
 * no memory, or no guard. `wanted` is the number of stacks that the caller is
 * about to take. `most`, at least 1, is the number of stacks that may still be
 * mapped. */
void *sn_slabs_take(struct slabs *s, uint32_t wanted, uint32_t most);

/* Reserve a clean or an uncarved stack without touching it; NULL when there is
 * no memory, or the system refuses a guard. It gets one even if the process has
 * too many of them. sn_slabs_take_aside then takes that stack and returns its
 * lowest usable address. */
void *sn_slabs_set_aside(struct slabs *s, uint32_t most);
void *sn_slabs_take_aside(struct slabs *s, void *bottom);

/* Return the memory of a taken stack to the system. Any thread, without the
 * lock. The caller must call sn_slabs_give afterwards. */
void sn_slabs_wipe(const struct slabs *s, void *low);

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

struct kept_slab {
	char    *base;
	size_t   pitch;  /* bytes of a stack with its gap */
	size_t   gap;    /* bytes of a guard */
	uint32_t count;  /* stacks */
	uint32_t carved; /* the first stacks, which have guards */
	uint32_t guards; /* those of them whose guards split the mapping; they
			  * stay counted */
};

/* Keep *k in place of the slab that is there, which goes back to the system.
 * Returns false if it cannot be kept now. Any thread. */
bool sn_kept_slab_put(const struct kept_slab *k);

/* Take the slab, if it has these sizes. Returns false if there is none. Any
 * thread. */
bool sn_kept_slab_take(struct kept_slab *k, size_t pitch, size_t gap);

/* Give the slab back to the system, if there is one. Any thread. */
void sn_kept_slab_drop(void);

/* In the child of a fork: a thread that was about to take or put it is gone. */
void sn_kept_slab_fork(void);

#endif
