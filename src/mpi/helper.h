/* SPDX-License-Identifier: Apache-2.0 */
/* helper.h - the thread that looks at lanes whose workers do not come to it,
 * as they are in long tasks. Without it a large message would not move until a
 * task ends, as MPI works only while somebody calls it.
 *
 *	asleep --a request is posted--> dozing --a lane is late--> helping
 *	   ^                              | ^                          |
 *	   +-- nothing for DOZES dozes ---+ +------- none is late -----+
 *
 * It never looks at a lane whose worker comes in time: MPI is called by one
 * thread at a time for a lane, mostly the worker's own.
 *
 * No lost wake-up: a post counts itself, then looks whether the helper is
 * asleep; the helper says that it is asleep, then looks at the count; with a
 * fence between on both sides. So one of the two sees the other.
 */
#ifndef SN_HELPER_H
#define SN_HELPER_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <pthread.h>
#include <stdbool.h>

/* A lane is late when its worker is this much behind, in ns. */
#define MPI_LATE SENNIT_MILLISECOND

/* What it helps; all fixed. */
struct mpi_helped {
	a_u32 *outstanding; /* how many requests are */
	bool (*help)(
		void *argument); /* look at what is late; whether any was */
	void *argument;
};

struct mpi_helper {
	struct mpi_helped of;
	pthread_t         thread;
	pthread_mutex_t   lock;
	pthread_cond_t    wake;    /* with lock */
	bool              stopped; /* under lock */
	a_u32             asleep;  /* the helper sets it, anyone clears it
				     * under lock */
	uint32_t          dozes;   /* its own: since there was something */
	uint64_t          doze;    /* its own: the length of the next, in ns */
};

void sn_mpi_helper_init(struct mpi_helper *h, struct mpi_helped of);
void sn_mpi_helper_free(struct mpi_helper *h);

/* Returns 0, or -EAGAIN if the system refuses the thread. */
int  sn_mpi_helper_start(struct mpi_helper *h);
void sn_mpi_helper_stop(struct mpi_helper *h);

void sn_mpi_helper_wake(struct mpi_helper *h);

/* Something was counted, and a fence has followed. */
static inline void sn_mpi_helper_call(struct mpi_helper *h)
{
	if (unlikely(a_load_rlx(&h->asleep)))
		sn_mpi_helper_wake(h);
}

#endif
