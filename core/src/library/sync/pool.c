/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - items in chunks. Each item has a tag with its state.
 *
 *	chunk   { tags: t0 t1 t2 ... | items: i0 i1 i2 ... }
 *	tag     next: the tag of the next free item, or a mark: on loan
 *
 * A bounded pool has one chunk. An unbounded pool doubles with each chunk, and
 * its list has the largest chunk first, so the search for a returned item is
 * short. The state of an item lies apart from the item. A program that writes
 * before or behind its item does not change it, and an address that is not an
 * item's is never dereferenced.
 *
 * The word's lock protects the free tags and the waiters, of which at least one
 * list is empty. Hooks and the allocator are called without the lock, on a tag
 * that no other thread uses.
 */
#include "sennit/pool.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "base/sized.h"
#include "wait/wait.h"

#include <errno.h>
#include <stdbool.h>

/* The number of items in an unbounded pool's first chunk. */
#define FIRST_CHUNK TORTURED(1u, 16u)

struct tag {
	struct tag *next; /* under lock: next free tag, or one of the marks
			   * below */
	void       *item; /* fixed */
	bool        made; /* handed: the item is constructed */
};

/* Values of tag.next for an item that is not free; never dereferenced. */
static struct tag on_loan, returning;

struct chunk {
	struct chunk *next;  /* fixed */
	char         *items; /* fixed */
	size_t        bytes; /* fixed: size of the items */
	size_t        size;  /* fixed: size of the chunk as allocated */
	struct tag    tags[];
};

/* --- chunks ------------------------------------------------------------- */

/* The size of a chunk of n items in bytes; 0: too large. *items becomes the
 * offset of the first item. */
static size_t chunk_size(const sennit_pool *p, size_t n, size_t *items)
{
	const size_t alignment = p->alignment_;
	size_t       head, tail, size;

	if (__builtin_mul_overflow(n, sizeof(struct tag), &head) ||
	    __builtin_add_overflow(head, sizeof(struct chunk) + alignment - 1,
				   &head) ||
	    __builtin_mul_overflow(n, p->stride_, &tail))
		return 0;
	head &= ~(alignment - 1);
	*items = head;
	return __builtin_add_overflow(head, tail, &size) ? 0 : size;
}

/* Allocate a chunk of n items, with its tags linked in order. NULL: out of
 * memory. */
static struct chunk *make_chunk(const sennit_pool *p, size_t n)
{
	const sennit_allocator *a = &p->allocator_;
	size_t                  items, i;
	size_t                  size = chunk_size(p, n, &items);
	size_t                  alignment = p->alignment_;
	struct chunk           *c;

	if (alignment < _Alignof(struct chunk))
		alignment = _Alignof(struct chunk);
	c = size ? a->allocate(a->context, size, alignment) : NULL;
	if (!c)
		return NULL;
	c->items = (char *)c + items;
	c->bytes = n * p->stride_;
	c->size = size;
	for (i = 0; i < n; i++) {
		c->tags[i].next = &c->tags[i + 1];
		c->tags[i].item = c->items + i * p->stride_;
		c->tags[i].made = false;
	}
	c->tags[n - 1].next = NULL;
	return c;
}

/* Add a chunk to *p, which must have no free tag. Lock held. */
static void add_chunk(sennit_pool *p, struct chunk *c)
{
	ASSERT(!p->free_);
	c->next = a_load_rlx(&p->chunks_); /* not raced: it changes only under
					    * the lock */
	p->free_ = &c->tags[0];
	p->total_ += c->bytes / p->stride_;
	a_store_rel(&p->chunks_, c); /* -> pool.chunk: the whole chunk */
}

/* The tag of an item. NULL: the item does not belong to *p. */
static struct tag *tag_of(const sennit_pool *p, const void *item)
{
	struct chunk *c = a_load_acq(&p->chunks_); /* <- pool.chunk */

	for (; c; c = c->next) {
		size_t offset = (uintptr_t)item - (uintptr_t)c->items;

		if (offset < c->bytes)
			return offset % p->stride_
				       ? NULL
				       : &c->tags[offset / p->stride_];
	}
	return NULL;
}

/* --- life --------------------------------------------------------------- */

static bool is_valid(const sennit_pool_config *c)
{
	return c->item_size && !(c->alignment & (c->alignment - 1)) &&
	       c->policy <= SENNIT_POOL_RECONSTRUCT && !c->reserved_ &&
	       sn_memory_is_valid(c->allocator);
}

ENDS_WITH(sennit_pool_config, allocator);

static int read_pool_config(sennit_pool_config       *out,
			    const sennit_pool_config *config)
{
	const int err =
		sn_sized_read(out, sizeof(*out), config,
			      SIZE_THROUGH(sennit_pool_config, allocator));

	if (err)
		return err;
	if (!is_valid(out))
		return -EINVAL;
	if (!out->alignment)
		out->alignment = _Alignof(max_align_t);
	if (!out->construct && !out->destroy)
		out->policy = SENNIT_POOL_PRESERVE; /* without hooks the
						     * policies are equal */
	return 0;
}

int sennit_pool_init(sennit_pool *p, const sennit_pool_config *config)
{
	sennit_pool_config c;
	sennit_pool        made;
	struct chunk      *first;
	const int          err = read_pool_config(&c, config);

	if (err)
		return err;
	made = (sennit_pool){ .policy_ = c.policy,
			      .alignment_ = c.alignment,
			      .count_ = c.count,
			      .construct_ = c.construct,
			      .destroy_ = c.destroy,
			      .context_ = c.context };
	if (__builtin_add_overflow(c.item_size, c.alignment - 1, &made.stride_))
		return -ENOMEM;
	made.stride_ &= ~(c.alignment - 1);
	made.allocator_ = c.allocator ? *c.allocator : sn_memory_libc;
	if (c.count) {
		first = make_chunk(&made, c.count);
		if (!first)
			return -ENOMEM;
		add_chunk(&made, first);
	}
	*p = made;
	return 0;
}

static void destroy_items(const sennit_pool *p, struct chunk *c)
{
	const size_t n = c->bytes / p->stride_;
	size_t       i;

	for (i = 0; i < n; i++) {
		sn_race_acquire(c->tags[i].item);
		if (c->tags[i].made && p->destroy_)
			p->destroy_(p->context_, c->tags[i].item);
	}
}

/* The chunk of a pool that was destroyed. It has no items. */
static struct chunk ended;

static void check_pool_not_ended(const sennit_pool *p, const char *call)
{
	/* A stale value is harmless: the caller races with the destruction. */
	MISUSE(a_load_rlx(&p->chunks_) == &ended, call,
	       "the pool was destroyed");
}

static bool has_loans(const sennit_pool *p, const struct chunk *c)
{
	const size_t n = c->bytes / p->stride_;
	size_t       i;

	for (i = 0; i < n; i++)
		if (c->tags[i].next == &on_loan ||
		    c->tags[i].next == &returning)
			return true;
	return false;
}

/* Why *p may not be destroyed, for a message. NULL: it may. */
static const char *why_used(sennit_pool *p)
{
	const uint32_t word = sn_wait_queue_lock(&p->state_);
	const char    *why = NULL;
	struct chunk  *c = a_load_rlx(&p->chunks_); /* not raced: the lock is
						     * held */

	if (word & WAIT_QUEUE_WAITERS)
		why = "a fiber or thread still waits for an item";
	for (; c && !why; c = c->next)
		if (has_loans(p, c))
			why = "an item is on loan";
	sn_wait_queue_unlock(&p->state_, word);
	return why;
}

void sennit_pool_destroy(sennit_pool *p)
{
	const char    *use = why_used(p);
	const uint32_t word = sn_wait_queue_lock(&p->state_);
	struct chunk  *chunks = a_load_rlx(&p->chunks_); /* not raced: the lock
							  * is held */
	struct chunk  *c;

	MISUSE(use, "sennit_pool_destroy", use);
	check_pool_not_ended(p, "sennit_pool_destroy");
	a_store_rlx(&p->chunks_, &ended);
	p->free_ = NULL;
	sn_wait_queue_unlock(&p->state_, word);
	while (chunks) {
		c = chunks;
		chunks = c->next;
		destroy_items(p, c);
		sn_memory_give(&p->allocator_, c, c->size);
	}
}

/* --- borrowing ---------------------------------------------------------- */

/* Take a free tag for a loan. NULL: none is free. Lock held. */
static inline struct tag *take_free(sennit_pool *p)
{
	struct tag *t = p->free_;

	if (likely(t)) {
		p->free_ = t->next;
		t->next = &on_loan;
	}
	return t;
}

/* Allocate more items. If another thread has meanwhile done the same, or
 * returned an item, the new chunk is freed. */
static int grow_pool(sennit_pool *p, struct tag **out, size_t total)
{
	struct chunk *c;
	struct tag   *t;
	uint32_t      word;

	check_pool_not_ended(p, "sennit_pool_borrow");
	c = make_chunk(p, total ? total : FIRST_CHUNK);
	word = sn_wait_queue_lock(&p->state_);
	t = take_free(p);

	if (!t && c) {
		add_chunk(p, c);
		c = NULL;
		t = take_free(p);
	}
	sn_wait_queue_unlock(&p->state_, word);
	if (c)
		sn_memory_give(&p->allocator_, c, c->size);
	if (!t)
		return -ENOMEM;
	*out = t;
	return 0;
}

static int wait_for_one(sennit_pool *p, struct tag **out, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word;
	int            err;

	check_pool_not_ended(p, "sennit_pool_borrow");
	n = sn_waiter_own(deadline);
	word = sn_wait_queue_lock(&p->state_);
	n->tag = take_free(p);
	if (n->tag || !deadline) {
		sn_wait_queue_unlock(&p->state_, word);
		*out = n->tag;
		return *out ? 0 : -ETIMEDOUT;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_POOL, p, deadline);
	word |= sn_wait_queue_join(&p->waiters_, n, false);
	sn_wait_queue_unlock(&p->state_, word);
	err = sn_wait_in(&p->state_, &p->waiters_, n, deadline);
	*out = n->tag;
	return err;
}

static int borrow_tag(sennit_pool *p, struct tag **out, sennit_time deadline)
{
	uint32_t    word = sn_wait_queue_lock(&p->state_);
	struct tag *t = take_free(p);
	size_t      total = p->total_;

	sn_wait_queue_unlock(&p->state_, word);
	*out = t;
	if (likely(t))
		return 0;
	return p->count_ ? wait_for_one(p, out, deadline)
			 : grow_pool(p, out, total);
}

/* --- returning ---------------------------------------------------------- */

/* Make the tag free, or lend it to a waiter. `mark` is the mark that the tag
 * must have. */
static void return_tag(sennit_pool *p, struct tag *t, const struct tag *mark)
{
	uint32_t       word = sn_wait_queue_lock(&p->state_);
	struct waiter *n;

	MISUSE(t->next != mark, "sennit_pool_return",
	       "the item is not on loan");
	n = sn_wait_take_one(&p->waiters_);
	if (n) {
		t->next = &on_loan;
		n->tag = t;
	} else {
		t->next = p->free_;
		p->free_ = t;
	}
	sn_wait_queue_unlock(&p->state_, sn_wait_queue_bits(p->waiters_, word));
	if (n)
		sn_wake(n);
}

/* Mark the item, so that no other thread can return it. */
static void mark_returning(sennit_pool *p, struct tag *t)
{
	uint32_t word = sn_wait_queue_lock(&p->state_);

	MISUSE(t->next != &on_loan, "sennit_pool_return",
	       "the item is not on loan");
	t->next = &returning;
	sn_wait_queue_unlock(&p->state_, word);
}

void sennit_pool_return(sennit_pool *p, void *item)
{
	struct tag *t = tag_of(p, item);

	ARCH_BARRIER();
	MISUSE(!t, "sennit_pool_return",
	       "the item does not belong to this pool");
	sn_race_release(t->item);
	if (p->policy_ == SENNIT_POOL_PRESERVE) {
		return_tag(p, t, &on_loan);
		return;
	}
	mark_returning(p, t);
	t->made = false;
	if (p->destroy_)
		p->destroy_(p->context_, t->item);
	sn_race_release(t->item);
	return_tag(p, t, &returning);
}

/* --- borrowing, with construction --------------------------------------- */

int sennit_pool_borrow_until(sennit_pool *p, void **item, sennit_time deadline)
{
	struct tag *t;
	int         err = borrow_tag(p, &t, deadline);

	ARCH_BARRIER(); /* the item would be lost */
	if (err)
		return err;
	sn_race_acquire(t->item);
	if (unlikely(!t->made)) {
		if (p->construct_)
			err = p->construct_(p->context_, t->item);
		if (err) {
			sn_race_release(t->item);
			return_tag(p, t, &on_loan);
			return err;
		}
		t->made = true;
	}
	*item = t->item;
	return 0;
}

int sennit_pool_borrow(sennit_pool *p, void **item)
{
	return KEEP_FRAME(sennit_pool_borrow_until(p, item, SENNIT_NEVER));
}
