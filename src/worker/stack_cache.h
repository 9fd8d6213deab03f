/* SPDX-License-Identifier: Apache-2.0 */
/* stack_cache.h - the idle stacks of a worker, last used first.
 *
 * Only the worker's own thread accesses it.
 */
#ifndef SN_STACK_CACHE_H
#define SN_STACK_CACHE_H

#include "fiber/fiber.h"

struct stack_cache {
	struct node *idle;  /* owner: last used first */
	void        *first; /* handed: the first stack, not in use yet; NULL: in
			     * use */
};

static inline bool sn_stack_cache_is_empty(const struct stack_cache *c)
{
	return !c->idle;
}

static inline void sn_stack_cache_put(struct stack_cache  *c,
				      struct sennit_fiber *f)
{
	f->link.next = c->idle;
	c->idle = &f->link;
}

/* Take the last used stack. NULL: there is none. */
static inline struct sennit_fiber *sn_stack_cache_take(struct stack_cache *c)
{
	struct node *n = c->idle;

	if (!n)
		return NULL;
	c->idle = n->next;
	if (n->next)
		__builtin_prefetch(n->next, 1);
	return container_of(n, struct sennit_fiber, link);
}

/* Take up to `most` of the stacks after the `keep` last used ones. Returns
 * their number. */
static inline uint32_t sn_stack_cache_take_old(struct stack_cache  *c,
					       uint32_t             keep,
					       struct sennit_fiber *out[],
					       uint32_t             most)
{
	struct node **at = &c->idle;
	uint32_t      n = 0;

	for (; *at && keep; keep--)
		at = &(*at)->next;
	for (; *at && n < most; *at = (*at)->next)
		out[n++] = container_of(*at, struct sennit_fiber, link);
	return n;
}

/* Set the stack that the worker's creator has reserved. */
static inline void sn_stack_cache_set_first(struct stack_cache *c, void *bottom)
{
	c->first = bottom;
}

/* Take that stack, once. NULL: it was taken. */
static inline void *sn_stack_cache_take_first(struct stack_cache *c)
{
	void *bottom = c->first;

	c->first = NULL;
	return bottom;
}

#endif
