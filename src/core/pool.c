/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pool.h"

#include "base/memory.h"
#include "os/os.h"

#define CHUNK_BLOCKS (2 * POOL_BATCH) /* the first block holds the links */

/* The first block of a chunk. */
struct pool_chunk {
	struct pool_chunk *next;
};

/* The first block of a batch links it to the next batch. */
struct batch {
	struct node  block; /* to the second block of this batch */
	struct node *next;  /* the next batch */
};

_Static_assert(sizeof(struct batch) <= POOL_BLOCK, "a batch fits its block");

void sn_pool_init(struct pool *p, const sennit_allocator *memory)
{
	p->memory = memory;
	pthread_mutex_init(&p->lock, NULL);
	p->batches = NULL;
	p->loose = NULL;
	p->chunks = NULL;
}

void sn_pool_free(struct pool *p)
{
	while (p->chunks) {
		struct pool_chunk *c = p->chunks;

		p->chunks = c->next;
		sn_memory_give(p->memory, c, CHUNK_BLOCKS * POOL_BLOCK);
	}
	pthread_mutex_destroy(&p->lock);
}

/* Add a chunk's blocks to the loose ones. */
static bool grow_locked(struct pool *p)
{
	char *memory = sn_memory_take(p->memory, CHUNK_BLOCKS * POOL_BLOCK,
				      POOL_BLOCK);
	struct pool_chunk *c = (struct pool_chunk *)memory;

	if (!memory)
		return false;
	c->next = p->chunks;
	p->chunks = c;
	for (uint32_t i = 1; i < CHUNK_BLOCKS; i++) {
		struct node *n = (struct node *)(memory + i * POOL_BLOCK);

		n->next = p->loose;
		p->loose = n;
	}
	return true;
}

/* Up to POOL_BATCH blocks as a chain; *count says how many. */
static struct node *take_some_locked(struct pool *p, uint32_t *count)
{
	struct node *first = p->batches;
	struct node *last;

	*count = 0;
	if (first) {
		p->batches = ((struct batch *)first)->next;
		*count = POOL_BATCH;
		return first;
	}
	if (!p->loose && !grow_locked(p))
		return NULL;
	first = p->loose;
	last = first;
	for (*count = 1; *count < POOL_BATCH && last->next; ++*count)
		last = last->next;
	p->loose = last->next;
	last->next = NULL;
	return first;
}

void *sn_pool_refill(struct pool_cache *c)
{
	struct node *n;
	uint32_t     count;

	os_lock(&c->pool->lock);
	n = take_some_locked(c->pool, &count);
	pthread_mutex_unlock(&c->pool->lock);
	if (!n)
		return NULL;
	c->free = n->next;
	c->count = count - 1;
	return n;
}

void sn_pool_spill(struct pool_cache *c)
{
	struct node *first = c->free;
	struct node *last = first;

	for (uint32_t i = 1; i < POOL_BATCH; i++)
		last = last->next;
	c->free = last->next;
	c->count -= POOL_BATCH;
	last->next = NULL;
	os_lock(&c->pool->lock);
	((struct batch *)first)->next = c->pool->batches;
	c->pool->batches = first;
	pthread_mutex_unlock(&c->pool->lock);
}

void *sn_pool_take_shared(struct pool *p)
{
	struct node *n;

	os_lock(&p->lock);
	if (!p->loose && p->batches) {
		p->loose = p->batches;
		p->batches = ((struct batch *)p->loose)->next;
	}
	if (!p->loose && !grow_locked(p)) {
		pthread_mutex_unlock(&p->lock);
		return NULL;
	}
	n = p->loose;
	p->loose = n->next;
	pthread_mutex_unlock(&p->lock);
	return n;
}

void sn_pool_give_shared(struct pool *p, void *block)
{
	struct node *n = block;

	os_lock(&p->lock);
	n->next = p->loose;
	p->loose = n;
	pthread_mutex_unlock(&p->lock);
}

void sn_pool_cache_init(struct pool_cache *c, struct pool *p)
{
	c->pool = p;
	c->free = NULL;
	c->count = 0;
}

void sn_pool_cache_drain(struct pool_cache *c)
{
	struct node *last;

	while (c->count >= POOL_BATCH)
		sn_pool_spill(c);
	if (!c->free)
		return;
	for (last = c->free; last->next; last = last->next)
		;
	os_lock(&c->pool->lock);
	last->next = c->pool->loose;
	c->pool->loose = c->free;
	pthread_mutex_unlock(&c->pool->lock);
	c->free = NULL;
	c->count = 0;
}
