/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - a pool of items that are borrowed and returned: connections,
 * buffers.
 *
 * A bounded pool has a fixed number of items. A caller that borrows when no
 * item is left waits until one is returned. Waiters are served first come,
 * first served. An unbounded pool allocates more items and never waits.
 *
 * An item is a piece of the pool's memory. The program may have it constructed
 * in one of two ways: once, when it is first borrowed, so that it keeps its
 * state between loans until the pool is destroyed; or anew for each loan. The
 * item that was returned last is lent first, since it is still in the cache.
 *
 * A pool owns memory and must be destroyed.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_POOL_H
#define SENNIT_POOL_H

#include "sennit/base.h"

SENNIT_BEGIN

enum sennit_pool_policy {
	SENNIT_POOL_PRESERVE = 0,   /* construct at the first loan, destroy with
				     * the pool */
	SENNIT_POOL_RECONSTRUCT = 1 /* construct at each loan, destroy at each
				     * return */
};

typedef struct sennit_pool_config {
	size_t   size;      /* sizeof(sennit_pool_config) in the caller's
			     * build */
	size_t   item_size; /* bytes of an item, not 0 */
	size_t   alignment; /* of an item, a power of two; 0: as malloc */
	size_t   count;     /* number of items; 0: unbounded */
	uint32_t policy;    /* enum sennit_pool_policy */
	uint32_t reserved_; /* must be 0 */

	/* Construct an item in the memory at *item, whose content is
	 * undefined. sennit_pool_borrow calls it under no lock, so it may
	 * wait. It returns 0 or a negative errno value, which the borrower
	 * gets. After an error the item is in the pool again and is not
	 * destroyed. NULL: do nothing. */
	int (*construct)(void *context, void *item);
	/* Destroy an item. sennit_pool_return or sennit_pool_destroy calls it
	 * under no lock, once for each construct that returned 0. NULL: do
	 * nothing. */
	void (*destroy)(void *context, void *item);
	void *context;

	const sennit_allocator *allocator; /* copied; NULL: malloc */
} sennit_pool_config;

#define SENNIT_POOL_CONFIG(...)              \
	SENNIT_CONSTANT_(sennit_pool_config, \
			 .size = sizeof(sennit_pool_config), __VA_ARGS__)

typedef struct sennit_pool {
	sennit_word      state_;
	uint32_t         policy_;
	void            *waiters_;
	void            *free_;
	sennit_pointer   chunks_;
	size_t           stride_;
	size_t           alignment_;
	size_t           count_;
	size_t           total_;
	sennit_allocator allocator_;
	int (*construct_)(void *context, void *item);
	void (*destroy_)(void *context, void *item);
	void *context_;
	void *reserved_[2];
} sennit_pool;

/* Initialise *p as a pool. A bounded pool allocates all its memory here, an
 * unbounded pool none. *config need not outlive the call.
 * Returns 0, -EINVAL if a field of *config has none of the values above, -E2BIG
 * as sennit_scheduler_create does, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_init(
	sennit_pool *p, const sennit_pool_config *config);

/* Destroy the items and free the memory of *p. It is misuse while an item is on
 * loan or a caller waits for one. To destroy *p again, to borrow or to return
 * an item is misuse, too; it is detected as long as *p itself is not used for
 * something else.
 *
 * From: fiber, thread.  Blocks: no (except for what `destroy` does).  */
SENNIT_API void sennit_pool_destroy(sennit_pool *p);

/* Borrow an item of *p. Wait until the deadline for an item to be returned. The
 * caller owns *item until it is returned, by any fiber or thread.
 * Returns 0; -ETIMEDOUT at the deadline or -ECANCELED if the caller's group is
 * cancelled, for a bounded pool; -ENOMEM, for an unbounded pool; or what
 * `construct` returned.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_borrow_until(sennit_pool *p,
							void       **item,
							sennit_time  deadline);

/* Like sennit_pool_borrow_until, with the deadline of the caller's group alone.
 * Returns what sennit_pool_borrow_until() returns.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_borrow(sennit_pool *p, void **item);

/* Return an item to *p. It is misuse if the item is not on loan or does not
 * belong to *p. The next borrower of the item may destroy *p as soon as it has
 * returned the item.
 *
 * From: fiber, thread.  Blocks: no (except for what `destroy` does).  */
SENNIT_API void sennit_pool_return(sennit_pool *p, void *item);

SENNIT_END

#endif
