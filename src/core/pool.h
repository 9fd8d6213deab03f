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
 * Memory comes from the allocator in chunks of one to many pages, each larger
 * than the last up to a limit, and goes back with the pool; or when it is
 * trimmed, if no block of the chunk is in use or in a cache. The first block of
 * each page says whose it is. Without that: the peak of blocks in use, plus two
 * batches per worker.
 *
 * Invariants
 *   - `idle` is the number of blocks in `batches` and `loose`.
 *   - Only who has set `trimming` looks at chunks' counts, or drops a chunk.
 */
#ifndef SN_POOL_H
#define SN_POOL_H

#include "base/list.h"
#include "base/torture.h"
#include "sennit/base.h"

#include <pthread.h>
#include <stdbool.h>

#define POOL_BLOCK 64u               /* bytes, and their alignment */
#define POOL_BATCH TORTURED(2u, 32u) /* blocks moved at a time */

struct pool_chunk;

struct pool {
	const sennit_allocator *memory; /* fixed */
	pthread_mutex_t         lock;
	struct node            *batches; /* under lock: full batches */
	struct node            *loose;   /* under lock: single blocks */
	struct pool_chunk      *chunks;  /* under lock; newest first */
	size_t                  idle;    /* under lock: blocks in the depot */
	size_t unused;   /* under lock: the fewest of these since last asked */
	bool   trimming; /* under lock */
	bool   again; /* under lock: trim once more, for who came meanwhile */
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

/* Give chunks back to the allocator none of whose blocks is in use or in a
 * cache. Any thread. */
void sn_pool_trim(struct pool *p);

/* How many blocks of the depot nobody has needed since this was last called.
 * Any thread. */
size_t sn_pool_unused(struct pool *p);

/* How many blocks the depot has. Any thread. */
size_t sn_pool_idle(struct pool *p);

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
