/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - things that are lent out and come back: connections, buffers.
 *
 * A bounded pool has a fixed number of items; who borrows when none is left
 * waits until one is returned, first come first served: a returned item goes to
 * whoever has waited longest. An unbounded pool makes more and never waits.
 *
 * An item is a piece of memory of the pool's. The program may have it
 * constructed, either once, when it is first borrowed, until the pool is
 * destroyed (the item keeps its state between loans), or for each loan anew.
 * Whatever was returned last is lent first, as it is still in the cache.
 *
 * A pool has memory of its own and must be destroyed.
 */
#ifndef SENNIT_POOL_H
#define SENNIT_POOL_H

#include "sennit/base.h"

SENNIT_BEGIN

enum sennit_pool_policy {
	SENNIT_POOL_PRESERVE = 0,   /* construct at the first loan, destroy
				     * with the pool */
	SENNIT_POOL_RECONSTRUCT = 1 /* construct at each loan, destroy at each
				     * return */
};

typedef struct sennit_pool_config {
	size_t   item_size; /* bytes of an item, not 0 */
	size_t   alignment; /* of an item, a power of two; 0: that of malloc */
	size_t   count;     /* how many items there are; 0: unbounded */
	uint32_t policy;    /* enum sennit_pool_policy */
	uint32_t reserved_; /* must be 0 */

	/* Make an item of the memory at *item, whose bytes are anything.
	 * Called by sennit_pool_borrow, under no lock: it may wait. Returns 0
	 * or a negative errno value, which the borrower gets; the item is then
	 * in the pool again, and not to be destroyed. NULL: nothing. */
	int (*construct)(void *context, void *item);
	/* The reverse. Called by sennit_pool_return or sennit_pool_destroy,
	 * under no lock, for each construct that returned 0. NULL: nothing. */
	void (*destroy)(void *context, void *item);
	void *context;

	const sennit_allocator *allocator; /* copied; NULL: malloc */
} sennit_pool_config;

typedef struct sennit_pool {
	sennit_word        state_;
	uint32_t           zero_;
	void              *waiters_;
	void              *free_;
	sennit_pointer     chunks_;
	size_t             stride_;
	size_t             total_;
	sennit_allocator   allocator_;
	sennit_pool_config config_;
} sennit_pool;

/* Make *p a pool. A bounded one takes all its memory here, an unbounded one
 * none. *config need not stay.
 * Returns 0, -EINVAL for a field that is none of the values above, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_init(
	sennit_pool *p, const sennit_pool_config *config);

/* Destroy the items and free the memory of *p. Misuse while an item is on loan
 * or somebody waits for one.
 *
 * From: fiber, thread.  Blocks: no (but for what `destroy` does).  */
SENNIT_API void sennit_pool_destroy(sennit_pool *p);

/* Borrow an item of *p, waiting until the deadline for one to be returned.
 * *item is the caller's until returned, by whomever.
 * Returns 0; -ETIMEDOUT or -ECANCELED, of a bounded pool; -ENOMEM, of an
 * unbounded one; or what `construct` returned.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_borrow_until(sennit_pool *p,
							void       **item,
							sennit_time  deadline);

/* The same, waiting as long as it takes: a bounded pool whose `construct`
 * cannot fail returns 0.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_borrow(sennit_pool *p, void **item);

/* Return an item to *p. Misuse of one that is not on loan, or not of *p.
 * Whoever borrows it may, having returned it, destroy *p at once.
 *
 * From: fiber, thread.  Blocks: no (but for what `destroy` does).  */
SENNIT_API void sennit_pool_return(sennit_pool *p, void *item);

SENNIT_END

#endif
