/* SPDX-License-Identifier: Apache-2.0 */
/* trace_state.h - a scheduler's part in a trace of events (worker/trace.h). */
#ifndef SN_TRACE_STATE_H
#define SN_TRACE_STATE_H

#include "core/trace_ring.h"

#include <pthread.h>

struct trace_state {
	pthread_mutex_t    lock;   /* rank: below bound_workers.lock */
	a_ptr              rings;  /* under lock; readers need none: a list of
				      * struct trace_ring that only grows */
	struct trace_ring *others; /* under lock: of threads without worker */
	a_u64    capacity;         /* under lock: events of each ring; 0: there
				      * are no rings yet */
	uint32_t last;             /* under lock: the highest number of a
				      * ring */
	a_u64    begin_ticks;      /* under lock */
	a_u64    begin_ns;         /* under lock */
	uint32_t process;          /* fixed once there are rings */
	uint32_t cpus;             /* fixed once there are rings */
	a_u32    crash_fd;         /* any */
};

static inline void sn_trace_init(struct trace_state *t)
{
	pthread_mutex_init(&t->lock, NULL);
}

/* Whether there were rings at some time. Exact under the lock. A thread that
 * has joined the bound ones need not hold it: rings that it misses, it is given
 * by whoever makes them. */
static inline bool sn_trace_has_rings(const struct trace_state *t)
{
	return a_load_rlx(&t->capacity);
}

/* The scheduler has no threads left. */
void sn_trace_free(struct trace_state *t);

#endif
