/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - 64-byte blocks for queued tasks and their arguments, recycled
 * between workers.
 *
 *	cache of worker A --full batch--> depot --batch--> cache of worker B
 *
 * Each worker allocates from its own cache and frees to it without
 * synchronisation. A cache that overflows hands a whole batch to the depot; an
 * empty cache takes a batch. A producer on one worker and a consumer on another
 * thus take the depot's lock once per batch. (Magazines: Bonwick, Adams, 2001.)
 *
 * Memory comes from the allocator in chunks. A chunk has one to LARGEST_CHUNK
 * pages, and each chunk is larger than the one before until that limit. A chunk
 * goes back to the allocator when the pool is freed, or when the pool is
 * trimmed and no block of the chunk is in use or in a cache. The first block of
 * each page names its chunk. Without trimming, the memory is that of the peak
 * of blocks in use plus two batches per worker.
 *
 * Invariants
 *   - `idle` is the number of blocks in `batches` and `loose`.
 *   - Only the thread that has set `trimming` reads the chunks' counts or
 *     frees a chunk.
 */
#ifndef SN_BLOCKS_H
#define SN_BLOCKS_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/torture.h"
#include "sennit/base.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define POOL_BLOCK 64u               /* bytes, also their alignment */
#define POOL_BATCH TORTURED(2u, 32u) /* blocks moved at a time */

struct pool_chunk;

struct pool {
	const sennit_allocator *memory; /* fixed */
	pthread_mutex_t         lock;
	struct node            *batches; /* under lock: full batches */
	struct node            *loose;   /* under lock: single blocks */
	struct pool_chunk      *chunks;  /* under lock; newest first */
	size_t                  idle;    /* under lock: blocks in the depot */
	size_t unused;   /* under lock: the minimum of `idle` since
			  * sn_pool_unused */
	bool   trimming; /* under lock */
	bool   again;    /* under lock: trim once more, because another thread
		       * asked meanwhile */
};

struct pool_cache {
	struct pool *pool;  /* fixed */
	struct node *free;  /* owner */
	uint32_t     count; /* owner */
};

void sn_pool_init(struct pool *p, const sennit_allocator *memory);
void sn_pool_free(struct pool *p);

void sn_pool_cache_init(struct pool_cache *c, struct pool *p);
/* Move all blocks of *c to the depot. */
void sn_pool_cache_drain(struct pool_cache *c);

/* Free the chunks that have no block in use or in a cache. Any thread. */
void sn_pool_trim(struct pool *p);

/* The number of depot blocks that were not needed since the last call. Any
 * thread. */
size_t sn_pool_unused(struct pool *p);

/* The number of blocks in the depot. Any thread. */
size_t sn_pool_idle(struct pool *p);

/* The slow paths of take and give. */
void *sn_pool_refill(struct pool_cache *c);
void  sn_pool_spill(struct pool_cache *c);

/* Allocate one block, for threads without a cache. NULL: out of memory. */
void *sn_pool_take_shared(struct pool *p);
void  sn_pool_give_shared(struct pool *p, void *block);

/* Allocate one block. NULL: out of memory. */
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
