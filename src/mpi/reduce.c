/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - MPI's collective calls that synchronise, broadcast and reduce, as
 * the nonblocking ones everywhere in the program: the two forms of a call do
 * not match each other. */
#include "mpi/takes.h"

int SN_MPI_OURS MPI_Barrier(MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Ibarrier, comm));
}

int SN_MPI_OURS MPI_Bcast(void *buf, int count, MPI_Datatype type, int root,
			  MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Ibcast, buf, count, type, root, comm));
}

int SN_MPI_OURS MPI_Reduce(const void *in, void *out, int count,
			   MPI_Datatype type, MPI_Op op, int root,
			   MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Ireduce, in, out, count, type,
					      op, root, comm));
}

int SN_MPI_OURS MPI_Allreduce(const void *in, void *out, int count,
			      MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Iallreduce, in, out, count,
					      type, op, comm));
}

int SN_MPI_OURS MPI_Reduce_scatter(const void *in, void *out,
				   const int counts[], MPI_Datatype type,
				   MPI_Op op, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Ireduce_scatter, in, out,
					      counts, type, op, comm));
}

int SN_MPI_OURS MPI_Reduce_scatter_block(const void *in, void *out, int count,
					 MPI_Datatype type, MPI_Op op,
					 MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(&c, SN_MPI_BEGIN(c, Ireduce_scatter_block, in, out,
					      count, type, op, comm));
}

int SN_MPI_OURS MPI_Scan(const void *in, void *out, int count,
			 MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Iscan, in, out, count, type, op, comm));
}

int SN_MPI_OURS MPI_Exscan(const void *in, void *out, int count,
			   MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	struct sn_mpi_call c;

	sn_mpi_take(&c);
	return sn_mpi_finish(
		&c, SN_MPI_BEGIN(c, Iexscan, in, out, count, type, op, comm));
}
