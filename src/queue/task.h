/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a task as the queues carry it: three words, by value, and a fourth
 * if tasks show where they were spawned, or if ThreadSanitizer is told what
 * each comes after (base/race.h). Below: the ring of tasks for one owner, and
 * the blocks of the pool, which hold queued tasks and copied arguments.
 *
 *	meta	0                      a task; the caller owns the argument
 *		TASK_BLOCK, TASK_COPY  a task; its argument is a copy
 *		scope | TASK_INSIDE    a task inside the cancel scope; the
 *		                       caller owns the argument
 *		domain [| TASK_BLOCK,  a task in the domain, whose address is a
 *		TASK_COPY]             multiple of 64; tagged if the argument
 *		                       is a copy
 *		group | TASK_MEMBER    a member of the group, whose address is a
 *		                       multiple of 8; tagged likewise
 *		wait group | TASK_TIED a task tied to the wait group, whose
 *		                       address is a multiple of 8; the caller
 *		                       owns the argument
 */
#ifndef SN_TASK_H
#define SN_TASK_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/race.h"
#include "base/torture.h"
#include "sennit/base.h"
#include "sennit/group.h"
#include "sennit/task.h"
#include "sennit/wait_group.h"

#include <pthread.h>
#include <stdbool.h>

struct sennit_domain;

struct task {
	sennit_task_fn *run;
	void           *argument;
	uintptr_t       meta; /* how the argument is freed, and what the task
			       * belongs to */
#ifdef SENNIT_SPAWN_SITES
	const void *site; /* behind the call that spawned it; NULL: not known */
#endif
#ifdef SENNIT_RACE
	void *sent; /* of sn_race_sent(); NULL: not yet */
#endif
};

/* The task enters a queue, or moves to another one. */
static inline void sn_task_send(struct task *t)
{
#ifdef SENNIT_RACE
	if (!t->sent)
		t->sent = sn_race_sent();
#else
	(void)t;
#endif
}

#define TASK_BORROWED ((uintptr_t)0)
#define TASK_BLOCK    ((uintptr_t)1) /* copied into a block of the pool */
#define TASK_INSIDE   ((uintptr_t)2) /* in the scope, argument not copied */
#define TASK_COPY \
	((uintptr_t)3) /* copied into memory of the allocator,
				      * behind a struct task_copy */
#define TASK_MEMBER ((uintptr_t)4)
#define TASK_TIED   (TASK_MEMBER | TASK_INSIDE)
#define TASK_OWNED  ((uintptr_t)3) /* mask: how the argument is owned */
#define TASK_TAG    ((uintptr_t)7) /* mask: all tags */

/* The header in front of a copy from the allocator. */
struct task_copy {
	size_t size;                            /* bytes, of header and copy */
	size_t unused[16 / sizeof(size_t) - 1]; /* keeps the copy aligned to
						 * 16 bytes */
};

static inline sennit_group *sn_task_group(uintptr_t meta)
{
	return (sennit_group *)(meta & ~TASK_TAG);
}

static inline uintptr_t sn_task_member(const sennit_group *g)
{
	return (uintptr_t)g | TASK_MEMBER;
}

static inline bool sn_task_is_tied(uintptr_t meta)
{
	return (meta & TASK_TAG) == TASK_TIED;
}

static inline sennit_wait_group *sn_task_wait_group(uintptr_t meta)
{
	return (sennit_wait_group *)(meta & ~TASK_TAG);
}

static inline uintptr_t sn_task_tied(const sennit_wait_group *g)
{
	return (uintptr_t)g | TASK_TIED;
}

static inline struct sennit_cancel_scope *sn_task_scope(uintptr_t meta)
{
	return (struct sennit_cancel_scope *)(meta & ~TASK_TAG);
}

static inline uintptr_t sn_task_inside(const struct sennit_cancel_scope *scope)
{
	return (uintptr_t)scope | TASK_INSIDE;
}

/* For a meta with an address and no other tag: a task in a domain. */
static inline struct sennit_domain *sn_task_domain(uintptr_t meta)
{
	return (struct sennit_domain *)(meta & ~TASK_TAG);
}

/* A member function in the type of a task function, and back. */
static inline sennit_task_fn *sn_task_fn(sennit_member_fn *run)
{
	return (sennit_task_fn *)(void (*)(void))run;
}

static inline sennit_member_fn *sn_task_member_fn(sennit_task_fn *run)
{
	return (sennit_member_fn *)(void (*)(void))run;
}

/* --- spawn sites ---------------------------------------------------------- */

/* In a build with SENNIT_SPAWN_SITES a task says where the program has spawned
 * it, in a fourth word. In others these macros say nothing.
 *
 * SPAWN_CALL begins a public call that spawns. Until it returns, the tasks that
 * the thread makes with TASK have the address to which it returns as their
 * site. A call inside of another keeps the outer one's: that is the program's.
 * Between the two nothing of the program may run that waits, because the site
 * is the thread's, not the fiber's.
 *
 * SENNIT_FORK_SPAWN is compiled into the program, and writes three words. So
 * the tasks inside a scope, which are its own (sn_task_count_joined), have no
 * site, whatever stands in the slot. */
#ifdef SENNIT_SPAWN_SITES

extern _Thread_local const void *sn_spawn_site;

static inline const void *sn_spawn_begin(const void *site)
{
	const void *outer = sn_spawn_site;

	if (!outer)
		sn_spawn_site = site;
	return outer;
}

static inline void sn_spawn_end(const void *const *outer)
{
	sn_spawn_site = *outer;
}

#define SPAWN_CALL()                                   \
	__attribute__((cleanup(sn_spawn_end), unused)) \
	const void *outer_site = sn_spawn_begin(__builtin_return_address(0))
#define SITE_OF(TASK)  , (TASK).site
#define SITE_PARAMETER , const void *site
#define SITE_ARGUMENT  , site
#define SITE_SPAWNED   , sn_spawn_site

#else

#define SPAWN_CALL() ((void)0)
#define SITE_OF(TASK)
#define SITE_PARAMETER
#define SITE_ARGUMENT
#define SITE_SPAWNED

#endif

/* A new task. */
#define TASK(RUN, ARGUMENT, META) \
	((struct task){ (RUN), (ARGUMENT), (META)SITE_SPAWNED })

#ifdef SENNIT_RACE
#define SENT_OF(TASK) , (TASK).sent
#else
#define SENT_OF(TASK)
#endif

/* The same task as *t, word by word. */
#define TASK_AGAIN(T)                            \
	((struct task){ (T)->run, (T)->argument, \
			(T)->meta SITE_OF(*(T)) SENT_OF(*(T)) })

/* --- ring ----------------------------------------------------------------- */

/* A growing FIFO queue of tasks for one owner.
 *
 *	slots   . . t0 t1 t2 t3 . .
 *	            ^ head      ^ head + count	(modulo the capacity)
 *
 * Not thread-safe: plain memory. An empty ring has no memory; the first push
 * allocates it.
 *
 * Invariants
 *   - count <= capacity; capacity is 0 or a power of two.
 *   - slots is NULL exactly when capacity is 0.
 */

/* Trimming never makes the capacity smaller than this. */
#define RING_KEPT TORTURED(1u, 1024u)

struct ring {
	struct task            *slots;     /* owner */
	uint32_t                capacity;  /* owner */
	uint32_t                head;      /* owner: position of the oldest */
	uint32_t                count;     /* owner */
	const sennit_allocator *allocator; /* fixed */
};

void sn_ring_init(struct ring *r, const sennit_allocator *allocator);

/* Tasks that are still queued are dropped. */
void sn_ring_free(struct ring *r);

/* Double the capacity. On -ENOMEM the ring is unchanged. */
COLD int sn_ring_grow(struct ring *r);

/* Free memory that a longer queue needed. Afterwards the capacity is at most
 * four times the number of tasks, or RING_KEPT. */
COLD void sn_ring_trim(struct ring *r);

/* Make room for n more tasks. On -ENOMEM no task is lost. */
SENNIT_MUST_USE int sn_ring_reserve(struct ring *r, uint32_t n);

static inline uint32_t sn_ring_count(const struct ring *r)
{
	return r->count;
}

static inline bool sn_ring_is_empty(const struct ring *r)
{
	return r->count == 0;
}

/* Whether trimming may free memory. */
static inline bool sn_ring_is_large(const struct ring *r)
{
	return r->capacity > RING_KEPT;
}

/* Append t. Returns 0. On -ENOMEM nothing has changed. */
static inline SENNIT_MUST_USE int sn_ring_push_back(struct ring *r,
						    struct task  t)
{
	if (unlikely(r->count == r->capacity)) {
		int err = sn_ring_grow(r);

		if (err)
			return err;
	}
	sn_task_send(&t);
	r->slots[(r->head + r->count) & (r->capacity - 1)] = t;
	r->count++;
	return 0;
}

/* The oldest task, which stays in the ring. The ring must not be empty. */
static inline struct task sn_ring_oldest(const struct ring *r)
{
	return r->slots[r->head];
}

/* Take the oldest task into *out. Returns false when the ring is empty. */
static inline bool sn_ring_pop_front(struct ring *r, struct task *out)
{
	if (r->count == 0)
		return false;
	*out = r->slots[r->head];
	r->head = (r->head + 1) & (r->capacity - 1);
	r->count--;
	return true;
}

/* Take the newest task into *out. Returns false when the ring is empty. */
static inline bool sn_ring_pop_back(struct ring *r, struct task *out)
{
	if (r->count == 0)
		return false;
	r->count--;
	*out = r->slots[(r->head + r->count) & (r->capacity - 1)];
	return true;
}

/* --- blocks --------------------------------------------------------------- */

/* 64-byte blocks for queued tasks and their arguments, recycled between
 * workers.
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
