/* SPDX-License-Identifier: Apache-2.0 */
/* polled_waits.h - waits that are not for one request: one of several requests,
 * some of them, a message to come. Results are those of sennit/mpi.h. */
#ifndef SN_MPI_POLLED_WAITS_H
#define SN_MPI_POLLED_WAITS_H

#include "mpi/lane.h"

int sn_mpi_waitany(struct mpi_lane *l, int count, MPI_Request requests[],
		   int *index, MPI_Status *status, sennit_time deadline);

int sn_mpi_waitsome(struct mpi_lane *l, int count, MPI_Request requests[],
		    int *done, int indices[], MPI_Status statuses[]);

/* With `message`, as MPI_Mprobe. */
int sn_mpi_probe(struct mpi_lane *l, int source, int tag, MPI_Comm comm,
		 MPI_Message *message, MPI_Status *status);

/* See sennit_mpi_event. Returns 0 or -ENOMEM. */
int sn_mpi_event(struct mpi_lane *l, MPI_Request *request, sennit_event *event);

#endif
