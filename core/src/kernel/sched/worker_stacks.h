/* SPDX-License-Identifier: Apache-2.0 */
/* worker_stacks.h - the stacks of a worker: takes new ones, keeps idle ones,
 * gives stacks back. */
#ifndef SN_WORKER_STACKS_H
#define SN_WORKER_STACKS_H

#include "sched/run_queue.h"
#include "sched/worker.h"

/* --- stack cache ---------------------------------------------------------- */

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

/* Take that stack, once. NULL: it was taken. */
static inline void *sn_stack_cache_take_first(struct stack_cache *c)
{
	void *bottom = c->first;

	c->first = NULL;
	return bottom;
}

/* --- stacks of a worker --------------------------------------------------- */

/* Put fibers on stacks that are new to w on the idle list, one or more. Returns
 * false if no stack is available. */
COLD bool sn_worker_stacks_add(struct worker *w);

/* The fiber on which the worker's thread, which has just begun, runs. */
struct sennit_fiber *sn_worker_stacks_first(struct worker *w);

/* The stack of f, which has check_at_end set, is about to become idle. Aborts
 * if its canary was changed. For a bound thread where stacks are limited, only
 * this stack stays with the thread: outside of the scheduler the thread could
 * not give others to workers that have none. */
COLD void sn_worker_stacks_check(struct worker *w, struct sennit_fiber *f);

/* An idle stack or a new one. NULL: none is available. */
static inline struct sennit_fiber *sn_worker_stacks_take(struct worker *w)
{
	if (!w->idle_stacks.idle && !sn_worker_stacks_add(w))
		return NULL;
	return sn_stack_cache_take(&w->idle_stacks);
}

/* Return up to `most` idle stacks, at most STACK_BATCH, to the system, except
 * for the `keep` last used ones. Returns their number. */
COLD uint32_t sn_worker_stacks_return(struct worker *w, uint32_t keep,
				      uint32_t most);

/* Where stacks are limited, give all idle ones except one back, for workers
 * that may have none. Otherwise do nothing. */
COLD void sn_worker_stacks_share(struct worker *w);

/* w has ended: give back all its stacks. */
void sn_worker_stacks_free(struct worker *w);

#endif
