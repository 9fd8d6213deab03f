/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - the outstanding requests of one worker, and the look at them.
 *
 *	fiber    posts what it waits for, has the hook asked, waits for an event
 *	worker   its hook looks: between fibers, when idle, when a nap ends
 *	helper   looks instead while the worker does not come to it (helper.h)
 *
 * Two kinds wait:
 *   - a `single` is one request: all of them are one array, for one
 *     MPI_Testsome;
 *   - a `polled` is anything else that a function can test: one of several
 *     requests, a probe, a request that stays its owner's.
 *
 * Invariants
 *   M1  Who looks holds the lane's lock. So MPI is asked about a request by one
 *       thread at a time, as it demands, and a fiber that withdraws finds its
 *       request either in the lane or done.
 *   M2  Whatever is in the lane is looked at again: post and withdraw are done
 *       by fibers of the worker, so the hook is asked after each post, and says
 *       SENNIT_NEVER only when, under the lock, the lane is empty. No wake-up
 *       is lost, as nobody sleeps on the lane: a completion sets an event.
 *   M3  Nothing touches a `single` or a `polled` after its event was set: it
 *       lies in the frame of a fiber that may have gone on.
 *   M4  The engine counts what is posted before it is in the lane, and counts
 *       it out after it has left it.
 */
#ifndef SN_MPI_LANE_H
#define SN_MPI_LANE_H

#include "base/atomic.h"
#include "mpi/pace.h"
#include "sennit/event.h"
#include "sennit/poller.h"
#include "sennit/scheduler.h"

#include <mpi.h>
#include <pthread.h>

struct mpi_engine;

/* In the frame of the fiber that waits. */
struct mpi_single {
	MPI_Request  request; /* the lane's while it is posted */
	MPI_Status   status;  /* once done */
	int          error;   /* once done */
	uint32_t     at;      /* under lock: its place */
	bool         done;    /* under lock */
	sennit_event ready;
};

/* In the frame of the fiber that waits, or, if `scheduler` is set, allocated:
 * then the lane frees it when it is complete, and has that reference released.
 * `test` says whether it is complete, on any thread, under the lock. */
struct mpi_polled {
	bool (*test)(struct mpi_polled *p);
	sennit_event      *event;     /* set once complete */
	sennit_scheduler  *scheduler; /* a reference; NULL: not allocated */
	struct mpi_polled *next;      /* under lock */
	bool               done;      /* under lock */
};

struct mpi_lane {
	sennit_poller_hook hook;   /* first; owner */
	struct mpi_engine *engine; /* owner; the helper only while listed */
	struct mpi_lane   *next;   /* under the engine's lock */

	a_u64 looked; /* owner writes: when the worker last came, or when it
		       * will come again; may be early */
	bool  asking; /* owner: its hook runs */
	struct mpi_direct direct; /* owner */

	sennit_time last;     /* owner: its last look outside the eager time */
	sennit_time last_cpu; /* owner: the CPU time of its thread then */

	pthread_mutex_t lock;
	struct mpi_pace pace;    /* under lock */
	sennit_time     again;   /* under lock: the end of the nap */
	sennit_time     quick;   /* under lock: the quickest probe, in ns */
	uint32_t        count;   /* under lock: singles */
	uint32_t        room;    /* under lock: places of the arrays */
	MPI_Request    *request; /* under lock; the same places as `single` */
	struct mpi_single **single; /* under lock */
	MPI_Status         *status; /* under lock: for MPI_Testsome */
	int                *index;  /* under lock: likewise */
	struct mpi_polled  *polled; /* under lock */
};

/* What a look has found. */
struct mpi_found {
	uint32_t          done;       /* singles and polled */
	uint32_t          references; /* to release, once no lock is held */
	sennit_scheduler *from;       /* the scheduler of all of those */
};

/* Returns NULL if there is no memory. */
struct mpi_lane *sn_mpi_lane_create(struct mpi_engine *e, uint32_t spin,
				    uint32_t nap);
void             sn_mpi_lane_free(struct mpi_lane *l);

/* Begin anew with these options. From a fiber of the lane's worker. */
void sn_mpi_lane_set_pace(struct mpi_lane *l, uint32_t spin, uint32_t nap);

/* From a fiber of the lane's worker. Returns false if there is no memory. */
bool sn_mpi_lane_post(struct mpi_lane *l, struct mpi_single *s);
void sn_mpi_lane_post_polled(struct mpi_lane *l, struct mpi_polled *p);

/* From a fiber of the lane's worker. Returns false if it is done already, and
 * the event set. */
bool sn_mpi_lane_withdraw(struct mpi_lane *l, struct mpi_single *s);
bool sn_mpi_lane_withdraw_polled(struct mpi_lane *l, struct mpi_polled *p);

/* Look at everything, now, under the lock. `wake`: as of sn_mpi_pace_next. */
struct mpi_found sn_mpi_lane_look(struct mpi_lane *l, sennit_time now,
				  uint32_t wake);

static inline bool sn_mpi_lane_is_empty(const struct mpi_lane *l)
{
	return !l->count && !l->polled;
}

#endif
