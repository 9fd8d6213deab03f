/* SPDX-License-Identifier: Apache-2.0 */
/* finalise_state.h - the threads that are still inside a scheduler that ends:
 * see finalise.h.
 */
#ifndef SN_FINALISE_STATE_H
#define SN_FINALISE_STATE_H

#include "base/atomic.h"
#include "base/torture.h"

#include <pthread.h>
#include <stdbool.h>

/* The maximum number of ended threads that are left for the client to join. */
#define FINALISE_EXITS TORTURED(2, 32)

struct finalise_state {
	a_u32    inside; /* any: threads that may still access the scheduler, +
			  * 1 until DONE */
	uint32_t exits;  /* under lock: number of threads in `exited` */
	bool     abandoned; /* fixed once the gate is DONE */
	pthread_mutex_t lock;
	pthread_t exited[FINALISE_EXITS]; /* under lock: threads that have left
					   * and must be joined */
};

static inline void sn_inside_init(struct finalise_state *f, uint32_t threads)
{
	a_init(&f->inside, threads + 1);
	pthread_mutex_init(&f->lock, NULL);
}

static inline void sn_inside_free(struct finalise_state *f)
{
	pthread_mutex_destroy(&f->lock);
}

/* Count one more thread. The caller is itself inside, holds a reference, or
 * runs a fiber of the scheduler, so the scheduler cannot end meanwhile. */
static inline void sn_inside_enter(struct finalise_state *f)
{
	a_add_rlx(&f->inside, 1);
}

/* Count one less. Returns true if it was the last one. A caller that only
 * undoes its own sn_inside_enter never is. */
static inline bool sn_inside_leave(struct finalise_state *f)
{
	/* -> finalise.inside: all that this thread did <- finalise.inside: what
	 * all others did */
	return a_sub_acqrel(&f->inside, 1) == 1;
}

#endif
