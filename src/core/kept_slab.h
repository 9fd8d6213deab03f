/* SPDX-License-Identifier: Apache-2.0 */
/* kept_slab.h - the slab that the process keeps after the end of a scheduler,
 * for the next one, as libc keeps the stacks of threads.
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
#ifndef SN_KEPT_SLAB_H
#define SN_KEPT_SLAB_H

#include "base/compiler.h"

#include <stdbool.h>

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
