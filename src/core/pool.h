/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - 64-byte blocks for tasks on their way, recycled between workers.
 *
 *	cache of worker A --full batch--> depot --batch--> cache of worker B
 *
 * Each worker takes from and gives to its own cache without synchronising; a
 * cache that runs over hands a whole batch to the depot, one that runs dry
 * takes one. A producer on one worker and a consumer on another thus touch the
 * depot's lock once per batch. (Magazines: Bonwick, Adams, 2001.)
 *
 * Memory comes from the allocator in chunks and goes back with the pool: at
 * the peak of blocks in use, plus two batches per worker.
 */
#ifndef SN_POOL_H
#define SN_POOL_H

#include "base/list.h"
#include "base/torture.h"
#include "sennit/base.h"

#include <pthread.h>

#define POOL_BLOCK 64u               /* bytes, and their alignment */
#define POOL_BATCH TORTURED(2u, 32u) /* blocks moved at a time */

struct pool_chunk;

struct pool {
	const sennit_allocator *memory; /* fixed */
	pthread_mutex_t         lock;
	struct node            *batches; /* under lock: full batches */
	struct node            *loose;   /* under lock: single blocks */
	struct pool_chunk      *chunks;  /* under lock */
};

struct pool_cache {
	struct pool *pool;  /* fixed */
	struct node *free;  /* owner */
	uint32_t     count; /* owner */
};

void sn_pool_init(struct pool *p, const sennit_allocator *memory);
void sn_pool_free(struct pool *p);

void sn_pool_cache_init(struct pool_cache *c, struct pool *p);
/* Hand all blocks of *c back to the depot. */
void sn_pool_cache_drain(struct pool_cache *c);

/* Cold ends of take and give. */
void *sn_pool_refill(struct pool_cache *c);
void  sn_pool_spill(struct pool_cache *c);

/* One block, for threads that have no cache. NULL: out of memory. */
void *sn_pool_take_shared(struct pool *p);
void  sn_pool_give_shared(struct pool *p, void *block);

/* One block; NULL: out of memory. */
static inline void *sn_pool_take(struct pool_cache *c)
{
	struct node *n = c->free;

	if (unlikely(!n))
		return sn_pool_refill(c);
	c->free = n->next;
	c->count--;
	return n;
}

static inline void sn_pool_give(struct pool_cache *c, void *block)
{
	struct node *n = block;

	n->next = c->free;
	c->free = n;
	if (unlikely(++c->count >= 2 * POOL_BATCH))
		sn_pool_spill(c);
}

#endif
