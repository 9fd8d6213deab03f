/* SPDX-License-Identifier: Apache-2.0 */
/* slab.h - mappings of many stacks, their guards, and which of them are clean.
 *
 *	slab        [ stack | stack | stack | ... ]
 *	guarded     [ guard            | usable ...       | link ]
 *	unguarded   [ a gap   | canary | usable ...       | link ]
 *	                               ^ low              ^ low + usable
 *
 *	uncarved --guarded, by the batch--> clean --> taken --cleaned--> clean
 *	    ^                                                              |
 *	    +-------------- all carved ones of the slab are clean ---------+
 *
 * A clean stack costs no memory and reads as zeros, guard or canary apart. A
 * slab whose stacks are all clean, and all cheaply guarded, is mapped anew at
 * its place: that frees its page tables. The place stays, so whoever still has
 * an address in it may read there, and finds zeros; and a stack that is taken
 * again begins and ends where it did, with a guard or without.
 *
 * The owner of a struct slabs locks it, but for sn_slabs_wipe.
 *
 * Invariants
 *   - low depends on the slab and the stack's number in it, on nothing else.
 *   - A stack without a guard has none again, one with a costly guard keeps it.
 *   - The link of a taken stack names its slab, and whether it has a guard.
 */
#ifndef SN_SLAB_H
#define SN_SLAB_H

#include "base/compiler.h"
#include "base/list.h"
#include "os/os.h"
#include "sennit/base.h"

#include <stdbool.h>

/* Stacks that are guarded by one system call. */
#define STACK_BATCH 32

struct slab;

struct slabs {
	const sennit_allocator *memory; /* fixed */
	size_t                  page;   /* fixed */
	size_t                  gap;    /* fixed: below a stack, its guard */
	size_t                  pitch;  /* fixed: one stack with its gap */
	enum os_guard           kind;   /* fixed */

	uint32_t     mapping_limit; /* most guards of the process that split
				      * mappings; UINT32_MAX: not asked yet */
	struct slab *newest;
	struct slab *looked;         /* where the last search ended */
	uint64_t     bytes;          /* mapped */
	uint32_t     clean;          /* stacks that are */
	uint32_t     carved;         /* stacks that are */
	uint32_t     uncarved;       /* stacks that are not */
	uint32_t     unguarded;      /* carved ones that are */
	uint32_t     mapping_guards; /* ours of the process's */
};

/* At the top of a stack, where its page has been touched: at the bottom it
 * would cost one. */
struct stack_link {
	struct node  node;    /* whoever holds the stack */
	struct slab *slab;    /* fixed while taken */
	bool         is_bare; /* fixed while taken: it has no guard */
};

/* Prepare *s; nothing is mapped yet. Both sizes, in bytes, are rounded up to
 * pages and not zero. 0, or -EINVAL for one beyond the address space. */
int sn_slabs_init(struct slabs *s, const sennit_allocator *memory,
		  size_t stack_size, size_t guard_size);
/* Unmap everything. */
void sn_slabs_free(struct slabs *s);

/* Take a clean stack: its lowest usable address; NULL: there is no memory.
 * wanted: how many the caller is about to take; most: how many there may be
 * mapped more, at least 1. */
void *sn_slabs_take(struct slabs *s, uint32_t wanted, uint32_t most);

/* Set a stack aside that is not carved, untouched; NULL: there is no memory.
 * And take it: its lowest usable address. */
void *sn_slabs_set_aside(struct slabs *s, uint32_t most);
void *sn_slabs_take_aside(struct slabs *s, void *bottom);

/* Give the memory of a taken stack back to the system. Any thread, without the
 * lock; sn_slabs_give must follow. */
void sn_slabs_wipe(const struct slabs *s, void *low);

/* A taken stack, of the slab that its link named before, has been wiped. */
void sn_slabs_give(struct slabs *s, struct slab *slab, void *low);

/* Usable bytes from low up; low + usable is a multiple of 64. */
size_t sn_slabs_usable(const struct slabs *s);

static inline struct stack_link *sn_slabs_link(const struct slabs *s, void *low)
{
	return (struct stack_link *)(void *)((char *)low + sn_slabs_usable(s));
}

/* Whether the address lies in one of the stacks, taken or not. */
bool sn_slabs_contain(const struct slabs *s, uintptr_t address);

/* Whether the taken stack has a canary, and it is not whole. */
bool sn_slabs_is_overrun(const struct slabs *s, void *low);

#endif
