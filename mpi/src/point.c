/* SPDX-License-Identifier: Apache-2.0 */
/* point.c - MPI's blocking calls between two processes. In a fiber each begins
 * the operation and waits for its request; elsewhere it is MPI's own. Calls
 * with a count are in point_calls.h.
 *
 * MPI_Bsend is not included, because it does not wait. */
#include "engine.h"
#include "suspend.h"

#include <stdlib.h>

#define SN_MPI_FORM(name) name
#define SN_MPI_COUNT      int
#include "point_calls.h"

#if SN_MPI_HAS_LARGE
#define SN_MPI_FORM(name) name##_c
#define SN_MPI_COUNT      MPI_Count
#include "point_calls.h"
#endif

/* --- probes ------------------------------------------------------------- */

int SN_MPI_OURS MPI_Probe(int source, int tag, MPI_Comm comm,
			  MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Probe(source, tag, comm, status);
	return sn_mpi_probe(c.lane, source, tag, comm, NULL, status);
}

int SN_MPI_OURS MPI_Mprobe(int source, int tag, MPI_Comm comm,
			   MPI_Message *message, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Mprobe(source, tag, comm, message, status);
	return sn_mpi_probe(c.lane, source, tag, comm, message, status);
}
