/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.h - waiting for requests: a fiber suspends, anybody else asks MPI.
 *
 * Every wait asks MPI first, so what is complete costs no suspension. The lane
 * is that of the caller (sn_mpi_lane_here); with NULL the thread waits. Results
 * are those of sennit/mpi.h.
 */
#ifndef SN_MPI_SUSPEND_H
#define SN_MPI_SUSPEND_H

#include "mpi/lane.h"

/* One request. Like MPI_Wait, leaves the field MPI_ERROR of *status. */
int sn_mpi_wait(struct mpi_lane *l, MPI_Request *request, MPI_Status *status,
		sennit_time deadline);

int sn_mpi_waitall(struct mpi_lane *l, int count, MPI_Request requests[],
		   MPI_Status *statuses, sennit_time deadline);

/* Whatever `test` says, with `event` being set by the caller's choice. */
int sn_mpi_wait_polled(struct mpi_lane *l, struct mpi_polled *p,
		       sennit_time deadline);

#endif
