/* SPDX-License-Identifier: Apache-2.0 */
/* worker_counts.h - the numbers of workers of a scheduler: see
 * worker_threads.h. */
#ifndef SN_WORKER_COUNTS_H
#define SN_WORKER_COUNTS_H

#include "base/atomic.h"
#include "base/torture.h"
#include "sennit/base.h"

#include <pthread.h>

struct worker_counts {
	a_u32 target;  /* under lock: number of workers wanted */
	a_u32 open;    /* under lock: workers below this take new work */
	a_u32 extent;  /* under lock: workers from this on have no thread */
	a_u32 retired; /* under lock: open workers without a thread, because
		        * they were idle */
	sennit_time     refused; /* under lock: no thread is started before this
				  * time */
	pthread_mutex_t lock;
	void *(*main)(void *worker); /* fixed: the thread's main function */
};

static inline void sn_worker_counts_init(struct worker_counts *t,
					 uint32_t target, uint32_t open,
					 void *(*main)(void *worker))
{
	a_init(&t->target, target);
	a_init(&t->open, open);
	a_init(&t->extent, open);
	a_init(&t->retired, 0);
	t->refused = 0;
	t->main = main;
	pthread_mutex_init(&t->lock, NULL);
}

static inline void sn_worker_counts_free(struct worker_counts *t)
{
	pthread_mutex_destroy(&t->lock);
}

/* The number of workers wanted. Any answer may be stale. */
static inline uint32_t sn_worker_counts_target(const struct worker_counts *t)
{
	return a_load_rlx(&t->target);
}

/* The number of workers that take new work. Stale unless the lock is held. */
static inline uint32_t sn_worker_counts_open(const struct worker_counts *t)
{
	return a_load_rlx(&t->open);
}

/* Only workers below this may have a thread or tasks. Stale unless the lock is
 * held: a thread that adds a worker also wakes for it. */
static inline uint32_t sn_worker_counts_extent(const struct worker_counts *t)
{
	return a_load_rlx(&t->extent);
}

/* Whether the worker with this index takes no new work. */
static inline bool sn_worker_counts_is_closed(const struct worker_counts *t,
					      uint32_t                    index)
{
	return index >= a_load_acq(&t->open); /* <- worker_threads.open */
}

/* Under lock. */
static inline void sn_worker_counts_set_open(struct worker_counts *t,
					     uint32_t              open)
{
	TORTURE_POINT();
	a_store_rel(&t->open, open); /* -> worker_threads.open: extent */
}

#endif
