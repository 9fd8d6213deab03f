/* SPDX-License-Identifier: Apache-2.0 */
/* locals.h - the local values that a task, or a thread, has set.
 *
 *	fiber->locals --> { memory, capacity, value, value, ... }   by key
 *
 * The first set makes the array, a later one enlarges it when needed, and the
 * end of the task frees it. CLEANUP_LOCALS of the fiber says that there is
 * something to end. The first array is a block of the worker's pool.
 *
 * Values that a thread has set on its own stack belong to the thread. The
 * thread keeps them while it is unbound; its worker's record of that stack has
 * them while it is bound. So a get looks in one place, whatever runs.
 */
#ifndef SN_LOCALS_H
#define SN_LOCALS_H

#include "sched/worker.h"
#include "sennit/local.h"

struct local {
	void    *value;
	uint32_t generation; /* of the key that set it; 0: never set */
};

struct locals {
	const sennit_allocator *memory;   /* fixed; NULL: a block of the pool */
	uint32_t                capacity; /* fixed */
	struct local            slots[];  /* indexed by key */
};

/* The values of the caller, on an unbound thread. */
struct locals **sn_task_local_of_thread(void);

static inline struct locals **sn_task_local_mine(void)
{
	struct worker *w = sn_self;

	return likely(w) ? &w->home.current->locals : sn_task_local_of_thread();
}

/* The slot of the key. It contains a value of this key only if the generations
 * match. NULL: nothing was ever set there. */
static inline struct local *sn_task_local_find(const struct locals *l,
					       sennit_local_key     key)
{
	if (unlikely(!l || key.index_ >= l->capacity))
		return NULL;
	return (struct local *)&l->slots[key.index_];
}

/* The caller's slot of the key; makes it if there is none. NULL: out of
 * memory. */
struct local *sn_task_local_make(sennit_local_key key);

/* The task of f, which runs, has returned. May wait. */
void sn_task_local_end(struct sennit_fiber *f);

/* Move the calling thread's values into its worker, and back. This also works
 * while a task runs on the thread's own stack. */
void sn_task_local_enter(struct worker *w);
void sn_task_local_leave(struct worker *w);

/* In the child of a fork: only the thread of w is left of it. */
void sn_task_local_fork(struct worker *w);

#endif
