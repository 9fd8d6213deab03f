/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - MPI's collective calls that move data between all processes, as
 * the nonblocking ones: see reduce.c. */
#include "mpi/takes.h"

int SN_MPI_OURS MPI_Gather(const void *in, int in_count, MPI_Datatype in_type,
			   void *out, int out_count, MPI_Datatype out_type,
			   int root, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Igather, in, in_count, in_type,
					      out, out_count, out_type, root,
					      comm));
}

int SN_MPI_OURS MPI_Gatherv(const void *in, int in_count, MPI_Datatype in_type,
			    void *out, const int out_counts[], const int at[],
			    MPI_Datatype out_type, int root, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Igatherv, in, in_count,
					      in_type, out, out_counts, at,
					      out_type, root, comm));
}

int SN_MPI_OURS MPI_Scatter(const void *in, int in_count, MPI_Datatype in_type,
			    void *out, int out_count, MPI_Datatype out_type,
			    int root, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Iscatter, in, in_count,
					      in_type, out, out_count, out_type,
					      root, comm));
}

int SN_MPI_OURS MPI_Scatterv(const void *in, const int in_counts[],
			     const int at[], MPI_Datatype in_type, void *out,
			     int out_count, MPI_Datatype out_type, int root,
			     MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Iscatterv, in, in_counts, at,
					      in_type, out, out_count, out_type,
					      root, comm));
}

int SN_MPI_OURS MPI_Allgather(const void *in, int in_count,
			      MPI_Datatype in_type, void *out, int out_count,
			      MPI_Datatype out_type, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c,
			     SN_MPI_BEGIN(c, Iallgather, in, in_count, in_type,
					  out, out_count, out_type, comm));
}

int SN_MPI_OURS MPI_Allgatherv(const void *in, int in_count,
			       MPI_Datatype in_type, void *out,
			       const int out_counts[], const int at[],
			       MPI_Datatype out_type, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c,
			     SN_MPI_BEGIN(c, Iallgatherv, in, in_count, in_type,
					  out, out_counts, at, out_type, comm));
}

int SN_MPI_OURS MPI_Alltoall(const void *in, int in_count, MPI_Datatype in_type,
			     void *out, int out_count, MPI_Datatype out_type,
			     MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c,
			     SN_MPI_BEGIN(c, Ialltoall, in, in_count, in_type,
					  out, out_count, out_type, comm));
}

int SN_MPI_OURS MPI_Alltoallv(const void *in, const int in_counts[],
			      const int in_at[], MPI_Datatype in_type,
			      void *out, const int out_counts[],
			      const int out_at[], MPI_Datatype out_type,
			      MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Ialltoallv, in, in_counts,
					      in_at, in_type, out, out_counts,
					      out_at, out_type, comm));
}

int SN_MPI_OURS MPI_Alltoallw(const void *in, const int in_counts[],
			      const int in_at[], const MPI_Datatype in_types[],
			      void *out, const int out_counts[],
			      const int          out_at[],
			      const MPI_Datatype out_types[], MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Ialltoallw, in, in_counts,
					      in_at, in_types, out, out_counts,
					      out_at, out_types, comm));
}
