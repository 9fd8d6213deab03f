/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - what sennit_mpi_start makes for a scheduler: its lanes, the count
 * of what is outstanding, and a helper.
 *
 * An engine has one reference from sennit_mpi_start until sennit_mpi_stop, and
 * one from each lane. A lane lives as long as its worker, which may be longer.
 */
#ifndef SN_ENGINE_H
#define SN_ENGINE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "mpi/helper.h"
#include "mpi/lane.h"
#include "sennit/mpi.h"

#include <stdbool.h>

struct mpi_engine {
	sennit_scheduler  *scheduler;   /* fixed; compared, and not held */
	sennit_mpi_options options;     /* fixed: defaults filled in */
	a_u32              stopped;     /* any: 1 after sennit_mpi_stop */
	a_u32              references;  /* any */
	a_u32              outstanding; /* any: posted and not complete */
	struct mpi_engine *next;        /* under the lock of all engines */
	pthread_mutex_t    lock;
	struct mpi_lane   *lanes;  /* under lock */
	struct mpi_helper  helper; /* of helper */
};

/* Make the engine of *s and start its helper. */
int sn_mpi_engine_start(sennit_scheduler *s, const sennit_mpi_options *options);

/* See sennit_mpi_stop. */
int sn_mpi_engine_stop(sennit_scheduler *s, sennit_time deadline);

/* What all engines have outstanding. Stops those that have nothing, for
 * MPI_Finalize. */
uint32_t sn_mpi_engines_end(void);

/* The lane of the calling fiber's worker; made at the first call. NULL: the
 * caller is not in a fiber of a scheduler with MPI, or in an error handler that
 * the lane's own look has called, or there is no memory. */
struct mpi_lane *sn_mpi_lane_here(void);

/* Have something looked at: count it, post it, have the hook asked. The first
 * returns false if there is no memory. */
bool sn_mpi_engine_post(struct mpi_lane *l, struct mpi_single *s);
void sn_mpi_engine_post_polled(struct mpi_lane *l, struct mpi_polled *p);

/* Count a call that runs elsewhere, and that no look will find. */
void sn_mpi_engine_count(struct mpi_engine *e);

/* A look is over, and no lock is held; or something was withdrawn; or a call
 * that was counted has returned. */
void sn_mpi_engine_found(struct mpi_engine *e, struct mpi_found found);

/* --- serial --------------------------------------------------------------- */

/* The lock around MPI calls where MPI allows one thread at a time
 * (MPI_THREAD_SERIALIZED). With MPI_THREAD_MULTIPLE there is none.
 *
 * No call that blocks is made under it, so that it is held for one call's time.
 */

/* Ask MPI for its level, once it is initialised. Returns the level. */
int sn_mpi_serial_init(void);

/* Whether there is the lock. */
bool sn_mpi_is_serial(void);

void sn_mpi_enter(void);
void sn_mpi_leave(void);

#endif
