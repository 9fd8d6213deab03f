/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - MPI's collective calls. They are translated to nonblocking
 * ones everywhere in the program, because the two forms of a call do not match
 * each other.
 *
 * MPI 4 has each of them with two types of count: with int, and with MPI_Count
 * and MPI_Aint, as MPI_Bcast_c. One table defines both, so that none is
 * forgotten.
 */
#include "suspend.h"

/* OURS(parameters) calls BEGIN(arguments, &request) and waits for the
 * request. */
#define DEFINE(OURS, BEGIN, PARAMETERS, ARGUMENTS)                            \
	int SN_MPI_OURS OURS PARAMETERS                                       \
	{                                                                     \
		struct sn_mpi_call c;                                         \
                                                                              \
		sn_mpi_take(&c);                                              \
		return sn_mpi_finish(&c,                                      \
				     SN_MPI_BEGIN(c, BEGIN, PASS ARGUMENTS)); \
	}

#define PASS(...) __VA_ARGS__

/* Report whether comm has neighbours. If not, MPI's own call fails at once,
 * with an error that may differ from that of the nonblocking one. */
static bool has_neighbours(MPI_Comm comm)
{
	int kind = MPI_UNDEFINED;

	return comm == MPI_COMM_NULL ||
	       PMPI_Topo_test(comm, &kind) != MPI_SUCCESS ||
	       kind != MPI_UNDEFINED;
}

#define DEFINE_NEIGHBOR(NAME, PARAMETERS, ARGUMENTS)                        \
	int SN_MPI_OURS MPI_Neighbor_##NAME PARAMETERS                      \
	{                                                                   \
		struct sn_mpi_call c;                                       \
                                                                            \
		if (!has_neighbours(comm))                                  \
			return PMPI_Neighbor_##NAME ARGUMENTS;              \
		sn_mpi_take(&c);                                            \
		return sn_mpi_finish(&c,                                    \
				     SN_MPI_BEGIN(c, PMPI_Ineighbor_##NAME, \
						  PASS ARGUMENTS));         \
	}

/* clang-format off */

/* C is the suffix of a form, COUNT its type of counts, AT that of
 * displacements. */
#define DEFINE_ALL(C, COUNT, AT) \
DEFINE(MPI_Bcast##C, PMPI_Ibcast##C, \
	(void *buf, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), \
	(buf, count, type, root, comm)) \
DEFINE(MPI_Reduce##C, PMPI_Ireduce##C, \
	(const void *in, void *out, COUNT count, MPI_Datatype type, MPI_Op op, \
	 int root, MPI_Comm comm), \
	(in, out, count, type, op, root, comm)) \
DEFINE(MPI_Allreduce##C, PMPI_Iallreduce##C, \
	(const void *in, void *out, COUNT count, MPI_Datatype type, MPI_Op op, \
	 MPI_Comm comm), \
	(in, out, count, type, op, comm)) \
DEFINE(MPI_Reduce_scatter##C, PMPI_Ireduce_scatter##C, \
	(const void *in, void *out, const COUNT counts[], MPI_Datatype type, \
	 MPI_Op op, MPI_Comm comm), \
	(in, out, counts, type, op, comm)) \
DEFINE(MPI_Reduce_scatter_block##C, PMPI_Ireduce_scatter_block##C, \
	(const void *in, void *out, COUNT count, MPI_Datatype type, MPI_Op op, \
	 MPI_Comm comm), \
	(in, out, count, type, op, comm)) \
DEFINE(MPI_Scan##C, PMPI_Iscan##C, \
	(const void *in, void *out, COUNT count, MPI_Datatype type, MPI_Op op, \
	 MPI_Comm comm), \
	(in, out, count, type, op, comm)) \
DEFINE(MPI_Exscan##C, PMPI_Iexscan##C, \
	(const void *in, void *out, COUNT count, MPI_Datatype type, MPI_Op op, \
	 MPI_Comm comm), \
	(in, out, count, type, op, comm)) \
DEFINE(MPI_Gather##C, PMPI_Igather##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 COUNT out_count, MPI_Datatype out_type, int root, MPI_Comm comm), \
	(in, in_count, in_type, out, out_count, out_type, root, comm)) \
DEFINE(MPI_Gatherv##C, PMPI_Igatherv##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 const COUNT out_counts[], const AT at[], MPI_Datatype out_type, \
	 int root, MPI_Comm comm), \
	(in, in_count, in_type, out, out_counts, at, out_type, root, comm)) \
DEFINE(MPI_Scatter##C, PMPI_Iscatter##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 COUNT out_count, MPI_Datatype out_type, int root, MPI_Comm comm), \
	(in, in_count, in_type, out, out_count, out_type, root, comm)) \
DEFINE(MPI_Scatterv##C, PMPI_Iscatterv##C, \
	(const void *in, const COUNT in_counts[], const AT at[], \
	 MPI_Datatype in_type, void *out, COUNT out_count, \
	 MPI_Datatype out_type, int root, MPI_Comm comm), \
	(in, in_counts, at, in_type, out, out_count, out_type, root, comm)) \
DEFINE(MPI_Allgather##C, PMPI_Iallgather##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 COUNT out_count, MPI_Datatype out_type, MPI_Comm comm), \
	(in, in_count, in_type, out, out_count, out_type, comm)) \
DEFINE(MPI_Allgatherv##C, PMPI_Iallgatherv##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 const COUNT out_counts[], const AT at[], MPI_Datatype out_type, \
	 MPI_Comm comm), \
	(in, in_count, in_type, out, out_counts, at, out_type, comm)) \
DEFINE(MPI_Alltoall##C, PMPI_Ialltoall##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 COUNT out_count, MPI_Datatype out_type, MPI_Comm comm), \
	(in, in_count, in_type, out, out_count, out_type, comm)) \
DEFINE(MPI_Alltoallv##C, PMPI_Ialltoallv##C, \
	(const void *in, const COUNT in_counts[], const AT in_at[], \
	 MPI_Datatype in_type, void *out, const COUNT out_counts[], \
	 const AT out_at[], MPI_Datatype out_type, MPI_Comm comm), \
	(in, in_counts, in_at, in_type, out, out_counts, out_at, out_type, \
	 comm)) \
DEFINE(MPI_Alltoallw##C, PMPI_Ialltoallw##C, \
	(const void *in, const COUNT in_counts[], const AT in_at[], \
	 const MPI_Datatype in_types[], void *out, const COUNT out_counts[], \
	 const AT out_at[], const MPI_Datatype out_types[], MPI_Comm comm), \
	(in, in_counts, in_at, in_types, out, out_counts, out_at, out_types, \
	 comm)) \
DEFINE_NEIGHBOR(allgather##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 COUNT out_count, MPI_Datatype out_type, MPI_Comm comm), \
	(in, in_count, in_type, out, out_count, out_type, comm)) \
DEFINE_NEIGHBOR(allgatherv##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 const COUNT out_counts[], const AT at[], MPI_Datatype out_type, \
	 MPI_Comm comm), \
	(in, in_count, in_type, out, out_counts, at, out_type, comm)) \
DEFINE_NEIGHBOR(alltoall##C, \
	(const void *in, COUNT in_count, MPI_Datatype in_type, void *out, \
	 COUNT out_count, MPI_Datatype out_type, MPI_Comm comm), \
	(in, in_count, in_type, out, out_count, out_type, comm)) \
DEFINE_NEIGHBOR(alltoallv##C, \
	(const void *in, const COUNT in_counts[], const AT in_at[], \
	 MPI_Datatype in_type, void *out, const COUNT out_counts[], \
	 const AT out_at[], MPI_Datatype out_type, MPI_Comm comm), \
	(in, in_counts, in_at, in_type, out, out_counts, out_at, out_type, \
	 comm)) \
DEFINE_NEIGHBOR(alltoallw##C, \
	(const void *in, const COUNT in_counts[], const MPI_Aint in_at[], \
	 const MPI_Datatype in_types[], void *out, const COUNT out_counts[], \
	 const MPI_Aint out_at[], const MPI_Datatype out_types[], \
	 MPI_Comm comm), \
	(in, in_counts, in_at, in_types, out, out_counts, out_at, out_types, \
	 comm))

DEFINE(MPI_Barrier, PMPI_Ibarrier, (MPI_Comm comm), (comm))
DEFINE(MPI_Comm_dup, PMPI_Comm_idup, (MPI_Comm comm, MPI_Comm *copy),
	(comm, copy))
DEFINE_ALL(, int, int)
#if SN_MPI_HAS_LARGE
DEFINE_ALL(_c, MPI_Count, MPI_Aint)
#endif
