/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the state that sennit_mpi_start makes for a scheduler: its lanes,
 * the count of outstanding requests, and a helper thread.
 *
 * An engine has one reference from sennit_mpi_start until sennit_mpi_stop, and
 * one for each lane. A lane lives as long as its worker, which may be longer.
 */
#ifndef SN_ENGINE_H
#define SN_ENGINE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "helper.h"
#include "lane.h"
#include "sennit/mpi.h"

#include <stdbool.h>

struct mpi_engine {
	sennit_scheduler  *scheduler;   /* fixed; only compared, no reference */
	sennit_mpi_options options;     /* fixed: defaults filled in */
	a_u32              stopped;     /* any: 1 after sennit_mpi_stop */
	a_u32              references;  /* any */
	a_u32              outstanding; /* any: number of requests posted and
					 * not complete */
	struct mpi_engine *next;        /* under the lock of all engines */
	pthread_mutex_t    lock;
	struct mpi_lane   *lanes;  /* under lock */
	struct mpi_helper  helper; /* of helper */
};

/* Make the engine of *s and start its helper thread. Returns 0 or an error of
 * sennit_mpi_start. */
int sn_mpi_engine_start(sennit_scheduler *s, const sennit_mpi_options *options);

/* See sennit_mpi_stop. */
int sn_mpi_engine_stop(sennit_scheduler *s, sennit_time deadline);

/* Return the number of outstanding requests of all engines. If it is 0, stop
 * all engines, for MPI_Finalize. */
uint32_t sn_mpi_engines_end(void);

/* Return the lane of the calling fiber's worker, made at the first call. NULL:
 * the caller is not in a fiber of a scheduler with MPI, or is in an error
 * handler that MPI has called while the lane is polled, or there is no
 * memory. */
struct mpi_lane *sn_mpi_lane_here(void);

/* Count the request, post it to the lane, and wake the hook. The first one
 * returns false if there is no memory. */
bool sn_mpi_engine_post(struct mpi_lane *l, struct mpi_single *s);
void sn_mpi_engine_post_polled(struct mpi_lane *l, struct mpi_polled *p);

/* Count a call that runs elsewhere and that no poll will find. */
void sn_mpi_engine_count(struct mpi_engine *e);

/* Update the count after a poll, when no lock is held; after a request was
 * withdrawn; or after a counted call has returned. */
void sn_mpi_engine_found(struct mpi_engine *e, struct mpi_found found);

/* --- serial --------------------------------------------------------------- */

/* The lock around MPI calls if MPI allows one thread at a time
 * (MPI_THREAD_SERIALIZED). With MPI_THREAD_MULTIPLE there is none.
 *
 * No blocking call is made under it, so it is held only for the time of one
 * call.
 */

/* Read MPI's thread level, once MPI is initialised. Returns the level. */
int sn_mpi_serial_init(void);

/* Report whether the lock is used. */
bool sn_mpi_is_serial(void);

void sn_mpi_enter(void);
void sn_mpi_leave(void);

#endif
