/* SPDX-License-Identifier: Apache-2.0 */
/* helper.h - the thread that polls lanes whose workers are in long tasks.
 * Without it a large message would not move until a task ends, because MPI
 * makes progress only during calls.
 *
 *	asleep --a request is posted--> dozing --a lane is late--> helping
 *	   ^                              | ^                          |
 *	   +-- nothing for DOZES dozes ---+ +------- none is late -----+
 *
 * It never polls a lane whose worker polls in time. Only one thread at a time
 * calls MPI for a lane, mostly the worker's own.
 *
 * No lost wake-up: a post increments the count, then reads whether the helper
 * is asleep. The helper sets that it is asleep, then reads the count. Both have
 * a fence in between. So at least one of the two sees the other.
 */
#ifndef SN_HELPER_H
#define SN_HELPER_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <pthread.h>
#include <stdbool.h>

/* A lane is late when its worker has not polled for this long, in ns. */
#define MPI_LATE SENNIT_MILLISECOND

/* The work of the helper; all fixed. */
struct mpi_helped {
	a_u32 *outstanding; /* number of outstanding requests */
	bool (*help)(
		void *argument); /* poll all late lanes; returns whether any was
				  * late */
	void *argument;
};

struct mpi_helper {
	struct mpi_helped of;
	pthread_t         thread;
	pthread_mutex_t   lock;
	pthread_cond_t    wake;    /* with lock */
	bool              stopped; /* under lock */
	a_u32             asleep;  /* set by the helper, cleared by any thread
				    * under lock */
	uint32_t          dozes;   /* helper only: number of dozes since
				    * something was outstanding */
	uint64_t          doze;    /* helper only: the length of the next doze,
				    * in ns */
};

void sn_mpi_helper_init(struct mpi_helper *h, struct mpi_helped of);
void sn_mpi_helper_free(struct mpi_helper *h);

/* Returns 0, or -EAGAIN if the system refuses the thread. */
int  sn_mpi_helper_start(struct mpi_helper *h);
void sn_mpi_helper_stop(struct mpi_helper *h);

void sn_mpi_helper_wake(struct mpi_helper *h);

/* Wake the helper if it sleeps. The caller has incremented the count and made a
 * fence. */
static inline void sn_mpi_helper_call(struct mpi_helper *h)
{
	if (unlikely(a_load_rlx(&h->asleep)))
		sn_mpi_helper_wake(h);
}

#endif
