/* SPDX-License-Identifier: Apache-2.0 */
/* worker_counts.h - how many workers a scheduler has, and how many of them take
 * work: see worker_threads.h.
 */
#ifndef SN_WORKER_COUNTS_H
#define SN_WORKER_COUNTS_H

#include "base/atomic.h"
#include "base/torture.h"
#include "sennit/base.h"

#include <pthread.h>

struct worker_counts {
	a_u32 target;  /* under lock: how many are wanted */
	a_u32 open;    /* under lock: those below take new work */
	a_u32 extent;  /* under lock: none from here on has a thread */
	a_u32 retired; /* under lock: of those open, without a thread, as they
			* had nothing to do */
	sennit_time     refused; /* under lock: no thread is asked for before */
	pthread_mutex_t lock;
	void *(*main)(void *worker); /* fixed: what a thread runs */
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

/* How many are wanted: a number, stale as any answer is. */
static inline uint32_t sn_worker_counts_target(const struct worker_counts *t)
{
	return a_load_rlx(&t->target);
}

/* How many take new work. Stale but under the lock. */
static inline uint32_t sn_worker_counts_open(const struct worker_counts *t)
{
	return a_load_rlx(&t->open);
}

/* Only those below may have a thread or tasks. Stale but under the lock:
 * whoever adds a worker wakes for it what it must. */
static inline uint32_t sn_worker_counts_extent(const struct worker_counts *t)
{
	return a_load_rlx(&t->extent);
}

/* Whether the worker of that index takes no new work. */
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
