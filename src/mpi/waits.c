/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c - MPI's waits for requests, and its end. */
#include "mpi/polled_waits.h"
#include "mpi/takes.h"

#include <stdio.h>
#include <stdlib.h>

int SN_MPI_OURS MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Wait(request, status);
	return sn_mpi_wait(c.lane, request, status, SENNIT_UNCANCELLED);
}

int SN_MPI_OURS MPI_Waitall(int count, MPI_Request requests[],
			    MPI_Status statuses[])
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Waitall(count, requests, statuses);
	return sn_mpi_waitall(c.lane, count, requests, statuses,
			      SENNIT_UNCANCELLED);
}

int SN_MPI_OURS MPI_Waitany(int count, MPI_Request requests[], int *index,
			    MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Waitany(count, requests, index, status);
	return sn_mpi_waitany(c.lane, count, requests, index, status,
			      SENNIT_UNCANCELLED);
}

int SN_MPI_OURS MPI_Waitsome(int count, MPI_Request requests[], int *done,
			     int indices[], MPI_Status statuses[])
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Waitsome(count, requests, done, indices, statuses);
	return sn_mpi_waitsome(c.lane, count, requests, done, indices,
			       statuses);
}

/* The requests of the waits would be gone under them: MPI aborts or crashes
 * then, without a word of why. */
int SN_MPI_OURS MPI_Finalize(void)
{
	uint32_t left = sn_mpi_engines_end();

	if (left) {
		fprintf(stderr,
			"sennit: misuse of MPI_Finalize: %u requests are "
			"outstanding: call sennit_mpi_stop before\n",
			left);
		abort();
	}
	return PMPI_Finalize();
}
