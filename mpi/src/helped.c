/* SPDX-License-Identifier: Apache-2.0 */
/* helped.c - MPI calls that may wait and have no nonblocking form of the same
 * meaning: those that create and free communicators, windows and files, that
 * access files, and epochs of windows. In a fiber such a call runs as a
 * blocking call (sennit/blocking.h), elsewhere it is MPI's own. MPI allows any
 * thread to make them: epochs belong to a window and a process, not to a
 * thread.
 *
 * They need MPI_THREAD_MULTIPLE. With MPI_THREAD_SERIALIZED, a call that waits
 * for another process would keep all other threads of this process out of MPI,
 * including those for which the other process waits. So in a fiber it is
 * misuse.
 *
 * The table has the types of each call's arguments, and the compiler checks
 * them against mpi.h. */
#include "engine.h"
#include "suspend.h"
#include "sennit/blocking.h"

/* Return the engine of the calling fiber, and count this call as outstanding,
 * so that sennit_mpi_stop waits for it. NULL: make MPI's own call. */
static struct mpi_engine *begin_helped(const char *name)
{
	struct mpi_lane *l = sn_mpi_lane_here();

	if (!l)
		return NULL;
	if (sn_mpi_is_serial())
		sn_mpi_misuse("%s: a fiber may call it only with "
			      "MPI_THREAD_MULTIPLE",
			      name);
	sn_mpi_engine_count(l->engine);
	return l->engine;
}

static void end_helped(struct mpi_engine *e)
{
	sn_mpi_engine_found(e, (struct mpi_found){ .done = 1 });
}

/* clang-format off */

/* F(number, type) for each type, with S() between two of them. */
#define EACH_1(F, S, T) F(1, T)
#define EACH_2(F, S, T, ...) F(2, T) S() EACH_1(F, S, __VA_ARGS__)
#define EACH_3(F, S, T, ...) F(3, T) S() EACH_2(F, S, __VA_ARGS__)
#define EACH_4(F, S, T, ...) F(4, T) S() EACH_3(F, S, __VA_ARGS__)
#define EACH_5(F, S, T, ...) F(5, T) S() EACH_4(F, S, __VA_ARGS__)
#define EACH_6(F, S, T, ...) F(6, T) S() EACH_5(F, S, __VA_ARGS__)
#define EACH_7(F, S, T, ...) F(7, T) S() EACH_6(F, S, __VA_ARGS__)
#define EACH_8(F, S, T, ...) F(8, T) S() EACH_7(F, S, __VA_ARGS__)
#define EACH_9(F, S, T, ...) F(9, T) S() EACH_8(F, S, __VA_ARGS__)
#define EACH_10(F, S, T, ...) F(10, T) S() EACH_9(F, S, __VA_ARGS__)
#define EACH_11(F, S, T, ...) F(11, T) S() EACH_10(F, S, __VA_ARGS__)

#define PICK(_11, _10, _9, _8, _7, _6, _5, _4, _3, _2, _1, EACH, ...) EACH
#define EACH(F, S, ...) \
	PICK(__VA_ARGS__, EACH_11, EACH_10, EACH_9, EACH_8, EACH_7, EACH_6, \
	     EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, 0) \
	(F, S, __VA_ARGS__)

#define NOTHING()
#define COMMA() ,
#define FIELD(N, T) T a##N;
#define PARAMETER(N, T) T a##N
#define VALUE(N, T) a##N
#define TAKEN(N, T) c->a##N

/* HELPED(call, the types of its arguments) */
#define HELPED(CALL, ...) \
	struct call_of_##CALL { \
		EACH(FIELD, NOTHING, __VA_ARGS__) \
		int result; \
	}; \
	static void *run_##CALL(void *argument) \
	{ \
		struct call_of_##CALL *c = argument; \
\
		c->result = P##CALL(EACH(TAKEN, COMMA, __VA_ARGS__)); \
		return NULL; \
	} \
	int SN_MPI_OURS CALL(EACH(PARAMETER, COMMA, __VA_ARGS__)) \
	{ \
		struct call_of_##CALL c = { \
			EACH(VALUE, COMMA, __VA_ARGS__), MPI_SUCCESS \
		}; \
		struct mpi_engine *e = begin_helped(#CALL); \
\
		if (!e) \
			return P##CALL(EACH(VALUE, COMMA, __VA_ARGS__)); \
		(void)sennit_blocking_call(run_##CALL, &c); \
		end_helped(e); \
		return c.result; \
	}

/* --- communicators ------------------------------------------------------ */

HELPED(MPI_Comm_dup_with_info, MPI_Comm, MPI_Info, MPI_Comm *)
HELPED(MPI_Comm_create, MPI_Comm, MPI_Group, MPI_Comm *)
HELPED(MPI_Comm_create_group, MPI_Comm, MPI_Group, int, MPI_Comm *)
HELPED(MPI_Comm_split, MPI_Comm, int, int, MPI_Comm *)
HELPED(MPI_Comm_split_type, MPI_Comm, int, int, MPI_Info, MPI_Comm *)
HELPED(MPI_Comm_free, MPI_Comm *)
HELPED(MPI_Comm_disconnect, MPI_Comm *)
HELPED(MPI_Comm_set_info, MPI_Comm, MPI_Info)
HELPED(MPI_Intercomm_create, MPI_Comm, int, MPI_Comm, int, int, MPI_Comm *)
HELPED(MPI_Intercomm_merge, MPI_Comm, int, MPI_Comm *)
HELPED(MPI_Cart_create, MPI_Comm, int, const int *, const int *, int,
       MPI_Comm *)
HELPED(MPI_Cart_sub, MPI_Comm, const int *, MPI_Comm *)
HELPED(MPI_Graph_create, MPI_Comm, int, const int *, const int *, int,
       MPI_Comm *)
HELPED(MPI_Dist_graph_create, MPI_Comm, int, const int *, const int *,
       const int *, const int *, MPI_Info, int, MPI_Comm *)
HELPED(MPI_Dist_graph_create_adjacent, MPI_Comm, int, const int *, const int *,
       int, const int *, const int *, MPI_Info, int, MPI_Comm *)

/* --- processes ---------------------------------------------------------- */

HELPED(MPI_Comm_spawn, const char *, char **, int, MPI_Info, int, MPI_Comm,
       MPI_Comm *, int *)
HELPED(MPI_Comm_spawn_multiple, int, char **, char ***, const int *,
       const MPI_Info *, int, MPI_Comm, MPI_Comm *, int *)
HELPED(MPI_Comm_accept, const char *, MPI_Info, int, MPI_Comm, MPI_Comm *)
HELPED(MPI_Comm_connect, const char *, MPI_Info, int, MPI_Comm, MPI_Comm *)
HELPED(MPI_Comm_join, int, MPI_Comm *)
HELPED(MPI_Open_port, MPI_Info, char *)
HELPED(MPI_Close_port, const char *)
HELPED(MPI_Publish_name, const char *, MPI_Info, const char *)
HELPED(MPI_Unpublish_name, const char *, MPI_Info, const char *)
HELPED(MPI_Lookup_name, const char *, MPI_Info, char *)

/* --- windows ------------------------------------------------------------ */

HELPED(MPI_Win_create_dynamic, MPI_Info, MPI_Comm, MPI_Win *)
HELPED(MPI_Win_free, MPI_Win *)
HELPED(MPI_Win_set_info, MPI_Win, MPI_Info)
HELPED(MPI_Win_fence, int, MPI_Win)
HELPED(MPI_Win_start, MPI_Group, int, MPI_Win)
HELPED(MPI_Win_complete, MPI_Win)
HELPED(MPI_Win_post, MPI_Group, int, MPI_Win)
HELPED(MPI_Win_lock, int, int, int, MPI_Win)
HELPED(MPI_Win_lock_all, int, MPI_Win)
HELPED(MPI_Win_unlock, int, MPI_Win)
HELPED(MPI_Win_unlock_all, MPI_Win)
HELPED(MPI_Win_flush, int, MPI_Win)
HELPED(MPI_Win_flush_all, MPI_Win)
HELPED(MPI_Win_flush_local, int, MPI_Win)
HELPED(MPI_Win_flush_local_all, MPI_Win)

/* --- files -------------------------------------------------------------- */

HELPED(MPI_File_open, MPI_Comm, const char *, int, MPI_Info, MPI_File *)
HELPED(MPI_File_close, MPI_File *)
HELPED(MPI_File_delete, const char *, MPI_Info)
HELPED(MPI_File_set_size, MPI_File, MPI_Offset)
HELPED(MPI_File_preallocate, MPI_File, MPI_Offset)
HELPED(MPI_File_get_size, MPI_File, MPI_Offset *)
HELPED(MPI_File_set_info, MPI_File, MPI_Info)
HELPED(MPI_File_set_view, MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype,
       const char *, MPI_Info)
HELPED(MPI_File_set_atomicity, MPI_File, int)
HELPED(MPI_File_sync, MPI_File)
HELPED(MPI_File_seek, MPI_File, MPI_Offset, int)
HELPED(MPI_File_seek_shared, MPI_File, MPI_Offset, int)
HELPED(MPI_File_get_position_shared, MPI_File, MPI_Offset *)
HELPED(MPI_File_read_all_end, MPI_File, void *, MPI_Status *)
HELPED(MPI_File_read_at_all_end, MPI_File, void *, MPI_Status *)
HELPED(MPI_File_read_ordered_end, MPI_File, void *, MPI_Status *)
HELPED(MPI_File_write_all_end, MPI_File, const void *, MPI_Status *)
HELPED(MPI_File_write_at_all_end, MPI_File, const void *, MPI_Status *)
HELPED(MPI_File_write_ordered_end, MPI_File, const void *, MPI_Status *)

/* --- calls with a count ------------------------------------------------- */

/* C is the suffix of a form, COUNT its type of counts, UNIT that of
 * displacement units. */
#define HELPED_ALL(C, COUNT, UNIT) \
HELPED(MPI_Buffer_detach##C, void *, COUNT *) \
HELPED(MPI_Win_create##C, void *, MPI_Aint, UNIT, MPI_Info, MPI_Comm, \
       MPI_Win *) \
HELPED(MPI_Win_allocate##C, MPI_Aint, UNIT, MPI_Info, MPI_Comm, void *, \
       MPI_Win *) \
HELPED(MPI_Win_allocate_shared##C, MPI_Aint, UNIT, MPI_Info, MPI_Comm, void *, \
       MPI_Win *) \
HELPED(MPI_File_read##C, MPI_File, void *, COUNT, MPI_Datatype, MPI_Status *) \
HELPED(MPI_File_read_all##C, MPI_File, void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_read_at##C, MPI_File, MPI_Offset, void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_read_at_all##C, MPI_File, MPI_Offset, void *, COUNT, \
       MPI_Datatype, MPI_Status *) \
HELPED(MPI_File_read_shared##C, MPI_File, void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_read_ordered##C, MPI_File, void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_read_all_begin##C, MPI_File, void *, COUNT, MPI_Datatype) \
HELPED(MPI_File_read_at_all_begin##C, MPI_File, MPI_Offset, void *, COUNT, \
       MPI_Datatype) \
HELPED(MPI_File_read_ordered_begin##C, MPI_File, void *, COUNT, MPI_Datatype) \
HELPED(MPI_File_write##C, MPI_File, const void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_write_all##C, MPI_File, const void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_write_at##C, MPI_File, MPI_Offset, const void *, COUNT, \
       MPI_Datatype, MPI_Status *) \
HELPED(MPI_File_write_at_all##C, MPI_File, MPI_Offset, const void *, COUNT, \
       MPI_Datatype, MPI_Status *) \
HELPED(MPI_File_write_shared##C, MPI_File, const void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_write_ordered##C, MPI_File, const void *, COUNT, MPI_Datatype, \
       MPI_Status *) \
HELPED(MPI_File_write_all_begin##C, MPI_File, const void *, COUNT, \
       MPI_Datatype) \
HELPED(MPI_File_write_at_all_begin##C, MPI_File, MPI_Offset, const void *, \
       COUNT, MPI_Datatype) \
HELPED(MPI_File_write_ordered_begin##C, MPI_File, const void *, COUNT, \
       MPI_Datatype)

HELPED_ALL(, int, int)

/* --- calls of MPI 4 ----------------------------------------------------- */

/* The initialisation of a persistent collective call may wait for the other
 * processes. */
#define HELPED_INIT(C, COUNT, AT) \
HELPED(MPI_Bcast_init##C, void *, COUNT, MPI_Datatype, int, MPI_Comm, \
       MPI_Info, MPI_Request *) \
HELPED(MPI_Reduce_init##C, const void *, void *, COUNT, MPI_Datatype, MPI_Op, \
       int, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Allreduce_init##C, const void *, void *, COUNT, MPI_Datatype, \
       MPI_Op, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Reduce_scatter_init##C, const void *, void *, const COUNT *, \
       MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Reduce_scatter_block_init##C, const void *, void *, COUNT, \
       MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Scan_init##C, const void *, void *, COUNT, MPI_Datatype, MPI_Op, \
       MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Exscan_init##C, const void *, void *, COUNT, MPI_Datatype, MPI_Op, \
       MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Gather_init##C, const void *, COUNT, MPI_Datatype, void *, COUNT, \
       MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Gatherv_init##C, const void *, COUNT, MPI_Datatype, void *, \
       const COUNT *, const AT *, MPI_Datatype, int, MPI_Comm, MPI_Info, \
       MPI_Request *) \
HELPED(MPI_Scatter_init##C, const void *, COUNT, MPI_Datatype, void *, COUNT, \
       MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(MPI_Scatterv_init##C, const void *, const COUNT *, const AT *, \
       MPI_Datatype, void *, COUNT, MPI_Datatype, int, MPI_Comm, MPI_Info, \
       MPI_Request *) \
ALL_INIT(MPI_Allgather_init##C, MPI_Allgatherv_init##C, MPI_Alltoall_init##C, \
	 MPI_Alltoallv_init##C, MPI_Alltoallw_init##C, COUNT, AT, AT) \
ALL_INIT(MPI_Neighbor_allgather_init##C, MPI_Neighbor_allgatherv_init##C, \
	 MPI_Neighbor_alltoall_init##C, MPI_Neighbor_alltoallv_init##C, \
	 MPI_Neighbor_alltoallw_init##C, COUNT, AT, MPI_Aint)

/* Calls from all to all, or from neighbours to neighbours. */
#define ALL_INIT(GATHER, GATHERV, TOALL, TOALLV, TOALLW, COUNT, AT, AT_W) \
HELPED(GATHER, const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, \
       MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(GATHERV, const void *, COUNT, MPI_Datatype, void *, const COUNT *, \
       const AT *, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(TOALL, const void *, COUNT, MPI_Datatype, void *, COUNT, MPI_Datatype, \
       MPI_Comm, MPI_Info, MPI_Request *) \
HELPED(TOALLV, const void *, const COUNT *, const AT *, MPI_Datatype, void *, \
       const COUNT *, const AT *, MPI_Datatype, MPI_Comm, MPI_Info, \
       MPI_Request *) \
HELPED(TOALLW, const void *, const COUNT *, const AT_W *, \
       const MPI_Datatype *, void *, const COUNT *, const AT_W *, \
       const MPI_Datatype *, MPI_Comm, MPI_Info, MPI_Request *)

#if MPI_VERSION >= 4
HELPED_ALL(_c, MPI_Count, MPI_Aint)
HELPED(MPI_Barrier_init, MPI_Comm, MPI_Info, MPI_Request *)
HELPED_INIT(, int, int)
HELPED_INIT(_c, MPI_Count, MPI_Aint)
HELPED(MPI_Comm_create_from_group, MPI_Group, const char *, MPI_Info,
       MPI_Errhandler, MPI_Comm *)
HELPED(MPI_Intercomm_create_from_groups, MPI_Group, int, MPI_Group, int,
       const char *, MPI_Info, MPI_Errhandler, MPI_Comm *)
HELPED(MPI_Session_init, MPI_Info, MPI_Errhandler, MPI_Session *)
HELPED(MPI_Session_finalize, MPI_Session *)
#endif
