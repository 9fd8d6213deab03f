/* SPDX-License-Identifier: Apache-2.0 */
/* bound_workers.h - the workers of bound threads, and the counters of workers
 * that have been unbound.
 */
#ifndef SN_BOUND_WORKERS_H
#define SN_BOUND_WORKERS_H

#include "base/list.h"
#include "os/os.h"
#include "worker/counters.h"

#include <pthread.h>

struct bound_workers {
	pthread_mutex_t     lock;
	struct link        *list; /* under lock: of struct binding */
	struct counters_sum past; /* under lock: of threads that have unbound */
	a_ptr spare; /* any: memory of a worker whose thread has unbound; NULL:
		      * none */
};

/* The part of a worker. */
struct binding {
	struct link link;    /* under bound_workers.lock */
	bool        leaving; /* owner: it is unbinding, and runs its remaining
			      * tasks */
};

static inline void sn_bound_init(struct bound_workers *b)
{
	pthread_mutex_init(&b->lock, NULL);
	a_init(&b->spare, NULL);
}

static inline void sn_bound_free(struct bound_workers *b)
{
	pthread_mutex_destroy(&b->lock);
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

/* No worker joins or leaves between these two calls. */
static inline void sn_bound_lock(struct bound_workers *b)
{
	os_lock(&b->lock);
}

static inline void sn_bound_unlock(struct bound_workers *b)
{
	pthread_mutex_unlock(&b->lock);
}

/* The binding after `after`, or the first one for NULL. NULL: there is none.
 * Lock held. */
static inline struct binding *sn_bound_next(const struct bound_workers *b,
					    const struct binding       *after)
{
	struct link *l = after ? sn_link_after(&after->link, b->list) : b->list;

	return l ? container_of(l, struct binding, link) : NULL;
}

/* Add the counters of threads that have unbound. Lock held. */
static inline void sn_bound_add_past(const struct bound_workers *b,
				     struct counters_sum        *sum)
{
	sn_counters_join(sum, &b->past);
}

static inline void sn_bound_join(struct bound_workers *b, struct binding *mine)
{
	sn_bound_lock(b);
	sn_link_join(&b->list, &mine->link);
	sn_bound_unlock(b);
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

	sn_bound_lock(b);
	any = b->list;
	sn_bound_unlock(b);
	return any;
}

/* Owner only: whether it runs its remaining tasks in order to unbind. */
static inline bool sn_bound_is_leaving(const struct binding *b)
{
	return b->leaving;
}

static inline void sn_bound_set_leaving(struct binding *b, bool leaving)
{
	b->leaving = leaving;
}

#endif
