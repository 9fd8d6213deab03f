/* SPDX-License-Identifier: Apache-2.0 */
/* local.h - the values of local keys that a task, or a thread, has set.
 *
 *	fiber->locals --> { memory, capacity, value, value, ... }   by key
 *
 * Made by the first set, larger when a later key needs it, gone when the task
 * ends: the fiber's CLEANUP_LOCALS says that there is something to end. The
 * first one is a block of the worker's pool.
 *
 * What a thread has set on its own stack is its own: kept by the thread while
 * it is not bound, by its worker's record of that stack while it is. So a get
 * looks in one place, whatever runs.
 */
#ifndef SN_TASK_LOCAL_H
#define SN_TASK_LOCAL_H

#include "core/local_keys.h"
#include "worker/worker.h"

struct local {
	void    *value;
	uint32_t generation; /* of the key that set it; 0: none has */
};

struct locals {
	const sennit_allocator *memory;   /* fixed; NULL: a block of the pool */
	uint32_t                capacity; /* fixed */
	struct local            slots[];  /* by the keys' indices */
};

/* Where the caller's values are on an unbound thread. */
struct locals **sn_task_local_of_thread(void);

static inline struct locals **sn_task_local_mine(void)
{
	struct worker *w = sn_self;

	return likely(w) ? &w->home.current->locals : sn_task_local_of_thread();
}

/* The slot of the key, which has a value in it only with the key's generation.
 * NULL: nothing was ever set there. */
static inline struct local *sn_task_local_find(const struct locals *l,
					       sennit_local_key     key)
{
	if (unlikely(!l || key.index_ >= l->capacity))
		return NULL;
	return (struct local *)&l->slots[key.index_];
}

/* The caller's slot of the key, made at need; NULL: out of memory. */
struct local *sn_task_local_make(sennit_local_key key);

/* The task of f, which runs, has returned. May wait. */
void sn_task_local_end(struct sennit_fiber *f);

/* The calling thread's values go with it into its worker, and come back. Also
 * while a task runs on the thread's own stack. */
void sn_task_local_enter(struct worker *w);
void sn_task_local_leave(struct worker *w);

/* The thread of w is all that is left of it, in the child of a fork. */
void sn_task_local_fork(struct worker *w);

#endif
