/* SPDX-License-Identifier: Apache-2.0 */
/* bind.h - threads of the program that are workers while they are bound. */
#ifndef SN_BIND_H
#define SN_BIND_H

#include "os/os.h"
#include "sched/worker.h"

/* Give the calling thread, which is unbound, a worker of s. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_bind(sennit_scheduler *s);

/* Run all tasks of the calling thread's worker, then free the worker. *s may be
 * gone afterwards. */
void sn_unbind(struct worker *w);

/* --- the bound workers of a scheduler ------------------------------------- */

static inline void sn_bound_init(struct bound_workers *b)
{
	pthread_mutex_init(&b->lock, NULL);
	a_init(&b->spare, NULL);
}

/* Leave a worker's memory for the next thread that binds. Returns what was
 * there: NULL or another one. */
static inline struct worker *sn_bound_swap_spare(struct bound_workers *b,
						 struct worker        *w)
{
	/* -> bound.spare: no more accesses <- bound.spare */
	return a_swap_acqrel(&b->spare, w);
}

/* Take that memory. NULL: there is none. A stale NULL costs an allocation. */
static inline struct worker *sn_bound_take_spare(struct bound_workers *b)
{
	if (!a_load_rlx(&b->spare))
		return NULL;
	return a_swap_acq(&b->spare, NULL); /* <- bound.spare */
}

/* The binding after `after`, or the first one for NULL. NULL: there is none.
 * Lock held. */
static inline struct binding *sn_bound_next(const struct bound_workers *b,
					    const struct binding       *after)
{
	struct link *l = after ? sn_link_after(&after->link, b->list) : b->list;

	return l ? container_of(l, struct binding, link) : NULL;
}

static inline void sn_bound_join(struct bound_workers *b, struct binding *mine)
{
	os_lock(&b->lock);
	sn_link_join(&b->list, &mine->link);
	pthread_mutex_unlock(&b->lock);
}

/* The worker's counters stay in the sums. Lock held. */
static inline void sn_bound_leave(struct bound_workers *b, struct binding *mine,
				  const struct counters *counters)
{
	sn_link_leave(&b->list, &mine->link);
	sn_counters_add(&b->past, counters);
}

static inline bool sn_bound_is_any(struct bound_workers *b)
{
	bool any;

	os_lock(&b->lock);
	any = b->list;
	pthread_mutex_unlock(&b->lock);
	return any;
}

/* The worker of *b. */
static inline struct worker *sn_worker_bound(struct binding *b)
{
	return container_of(b, struct worker, binding);
}

#endif
