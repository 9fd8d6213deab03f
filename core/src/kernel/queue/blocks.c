/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/blocks.h"

#include "base/memory.h"
#include "os/os.h"

#define PAGE_BLOCKS   (2 * POOL_BATCH) /* the first is the page's header */
#define PAGE          (PAGE_BLOCKS * POOL_BLOCK)
#define LARGEST_CHUNK 16 /* pages */

/* The first block of each page. That of the first page is the chunk itself. */
struct block_page {
	struct pool_chunk *chunk;
};

struct pool_chunk {
	struct block_page  page;
	struct pool_chunk *next;
	uint32_t           pages; /* fixed */
	uint32_t           idle;  /* while trimming: blocks in the depot */
};

/* The first block of a batch of blocks links to the next batch. */
struct block_batch {
	struct node  block; /* to the second block of this batch */
	struct node *next;  /* the next batch */
};

_Static_assert(sizeof(struct block_batch) <= POOL_BLOCK,
	       "a batch fits its block");
_Static_assert(sizeof(struct pool_chunk) <= POOL_BLOCK, "a chunk fits one");

void sn_pool_init(struct pool *p, const sennit_allocator *memory)
{
	*p = (struct pool){ .memory = memory };
	pthread_mutex_init(&p->lock, NULL);
}

/* `discard` discards the pages first, because the allocator may keep freed
 * memory. */
static void give_chunks(struct pool *p, struct pool_chunk *c, bool discard)
{
	while (c) {
		struct pool_chunk *next = c->next;
		size_t             size = (size_t)c->pages * PAGE;

		if (discard)
			os_discard(c, size);
		sn_memory_give(p->memory, c, size);
		c = next;
	}
}

void sn_pool_free(struct pool *p)
{
	give_chunks(p, p->chunks, false);
	pthread_mutex_destroy(&p->lock);
}

/* --- the depot ---------------------------------------------------------- */

static void note_taken_locked(struct pool *p, uint32_t count)
{
	p->idle -= count;
	if (p->idle < p->unused)
		p->unused = p->idle;
}

static void add_page_locked(struct pool *p, struct pool_chunk *c, char *memory)
{
	((struct block_page *)memory)->chunk = c;
	for (uint32_t i = 1; i < PAGE_BLOCKS; i++) {
		struct node *n = (struct node *)(memory + i * POOL_BLOCK);

		n->next = p->loose;
		p->loose = n;
	}
	p->idle += PAGE_BLOCKS - 1;
}

/* Allocate a chunk and add its blocks to the loose ones. */
static bool grow_locked(struct pool *p)
{
	uint32_t           pages = p->chunks ? 2 * p->chunks->pages : 1;
	char              *memory;
	struct pool_chunk *c;

	if (pages > LARGEST_CHUNK)
		pages = LARGEST_CHUNK;
	memory = sn_memory_take(p->memory, (size_t)pages * PAGE, PAGE);
	if (!memory)
		return false;
	c = (struct pool_chunk *)memory;
	c->next = p->chunks;
	c->pages = pages;
	p->chunks = c;
	for (uint32_t i = 0; i < pages; i++)
		add_page_locked(p, c, memory + i * PAGE);
	return true;
}

/* Take up to POOL_BATCH blocks as a chain. *count becomes their number. */
static struct node *take_some_locked(struct pool *p, uint32_t *count)
{
	struct node *first = p->batches;
	struct node *last;

	*count = 0;
	if (first) {
		p->batches = ((struct block_batch *)first)->next;
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
	note_taken_locked(c->pool, count);
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
	((struct block_batch *)first)->next = c->pool->batches;
	c->pool->batches = first;
	c->pool->idle += POOL_BATCH;
	pthread_mutex_unlock(&c->pool->lock);
}

void *sn_pool_take_shared(struct pool *p)
{
	struct node *n;

	os_lock(&p->lock);
	if (!p->loose && p->batches) {
		p->loose = p->batches;
		p->batches = ((struct block_batch *)p->loose)->next;
	}
	if (!p->loose && !grow_locked(p)) {
		pthread_mutex_unlock(&p->lock);
		return NULL;
	}
	n = p->loose;
	p->loose = n->next;
	note_taken_locked(p, 1);
	pthread_mutex_unlock(&p->lock);
	return n;
}

void sn_pool_give_shared(struct pool *p, void *block)
{
	struct node *n = block;

	os_lock(&p->lock);
	n->next = p->loose;
	p->loose = n;
	p->idle++;
	pthread_mutex_unlock(&p->lock);
}

/* --- trimming ----------------------------------------------------------- */

static struct pool_chunk *chunk_of(const struct node *n)
{
	return ((struct block_page *)((uintptr_t)n & ~(uintptr_t)(PAGE - 1)))
		->chunk;
}

static bool is_idle(const struct pool_chunk *c)
{
	return c->idle == c->pages * (PAGE_BLOCKS - 1);
}

/* Take the whole depot: loose blocks and batches. Returns false if it is empty,
 * or if another thread is trimming. */
static bool take_depot(struct pool *p, struct node **blocks,
		       struct node **batches)
{
	bool taken;

	os_lock(&p->lock);
	taken = !p->trimming && p->idle;
	p->again = p->trimming; /* that thread may not have seen the newest
				 * blocks */
	if (taken) {
		p->trimming = true;
		*blocks = p->loose;
		*batches = p->batches;
		p->loose = NULL;
		p->batches = NULL;
		p->idle = 0;
		p->unused = 0;
	}
	pthread_mutex_unlock(&p->lock);
	return taken;
}

/* Break the batches up and put their blocks in front of the others. */
static struct node *unbatch(struct node *batches, struct node *blocks)
{
	while (batches) {
		struct node *next = ((struct block_batch *)batches)->next;
		struct node *last = batches;

		while (last->next)
			last = last->next;
		last->next = blocks;
		blocks = batches;
		batches = next;
	}
	return blocks;
}

/* Keep the blocks whose chunks stay. *last becomes the end of their chain. */
static struct node *keep_blocks(struct node *blocks, struct node **last,
				size_t *count)
{
	struct node *kept = NULL;

	while (blocks) {
		struct node *next = blocks->next;

		if (!is_idle(chunk_of(blocks))) {
			if (!kept)
				*last = blocks;
			blocks->next = kept;
			kept = blocks;
			++*count;
		}
		blocks = next;
	}
	return kept;
}

/* Remove the idle chunks from the list. Chunks added meanwhile were not
 * counted, so they stay. */
static struct pool_chunk *drop_chunks_locked(struct pool *p)
{
	struct pool_chunk  *dropped = NULL;
	struct pool_chunk **at = &p->chunks;

	while (*at) {
		struct pool_chunk *c = *at;

		if (!is_idle(c)) {
			c->idle = 0;
			at = &c->next;
			continue;
		}
		*at = c->next;
		c->next = dropped;
		dropped = c;
	}
	return dropped;
}

/* The lock is not held while the blocks are examined. Meanwhile other threads
 * find the depot empty and allocate new chunks. */
static bool trim(struct pool *p)
{
	struct node       *blocks, *batches, *last = NULL;
	struct pool_chunk *dropped;
	size_t             count = 0;
	bool               again;

	if (!take_depot(p, &blocks, &batches))
		return false;
	blocks = unbatch(batches, blocks);
	for (struct node *n = blocks; n; n = n->next)
		chunk_of(n)->idle++;
	blocks = keep_blocks(blocks, &last, &count);
	TORTURE_POINT(); /* the depot is empty, or has other threads' blocks */
	os_lock(&p->lock);
	if (blocks) {
		last->next = p->loose;
		p->loose = blocks;
	}
	p->idle += count;
	dropped = drop_chunks_locked(p);
	p->trimming = false;
	again = p->again;
	pthread_mutex_unlock(&p->lock);
	give_chunks(p, dropped, true);
	return again;
}

void sn_pool_trim(struct pool *p)
{
	while (trim(p))
		;
}

size_t sn_pool_unused(struct pool *p)
{
	size_t unused;

	os_lock(&p->lock);
	unused = p->unused;
	p->unused = p->idle;
	pthread_mutex_unlock(&p->lock);
	return unused;
}

size_t sn_pool_idle(struct pool *p)
{
	size_t idle;

	os_lock(&p->lock);
	idle = p->idle;
	pthread_mutex_unlock(&p->lock);
	return idle;
}

/* --- caches ------------------------------------------------------------- */

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
	c->pool->idle += c->count;
	pthread_mutex_unlock(&c->pool->lock);
	c->free = NULL;
	c->count = 0;
}
