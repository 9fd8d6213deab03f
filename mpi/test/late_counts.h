/* SPDX-License-Identifier: Apache-2.0 */
/* late_counts.h - the calls of late.c that have a count. Included once for each
 * form of them:
 *	FORM(name)   MPI_Send, or MPI_Send_c
 *	COUNT, AT    its types of counts and displacements
 */

/* --- messages ------------------------------------------------------------- */

static void FORM(receive_each)(void)
{
	MPI_Status  status;
	MPI_Message message;
	MPI_Request request;

	FOR(FORM(MPI_Recv)(mine, 1, MPI_INT, 1, 1, *world, &status),
	    send_number());
	FOR(MPI_Mprobe(1, 1, *world, &message, &status), send_number());
	if (!rank)
		FORM(MPI_Mrecv)(mine, 1, MPI_INT, &message, &status);
	if (rank)
		MPI_Isend(big, BIG, MPI_INT, 0, 1, *world, &request);
	else
		MPI_Mprobe(1, 1, *world, &message, &status);
	MPI_Barrier(*world); /* until then the sender is in MPI */
	FOR(FORM(MPI_Mrecv)(room, BIG, MPI_INT, &message, &status),
	    MPI_Wait(&request, &status));
}

static void FORM(send_each)(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	COUNT       size = 0;
	void       *buffer = malloc(sizeof(big) + MPI_BSEND_OVERHEAD);

	FOR(FORM(MPI_Send)(big, BIG, MPI_INT, 1, 1, *world), receive_big());
	FOR(FORM(MPI_Ssend)(mine, 1, MPI_INT, 1, 1, *world), receive_number());
	if (rank)
		MPI_Irecv(room, BIG, MPI_INT, 0, 1, *world, &request);
	MPI_Barrier(*world);
	FOR(FORM(MPI_Rsend)(big, BIG, MPI_INT, 1, 1, *world),
	    MPI_Wait(&request, MPI_STATUS_IGNORE));
	if (!rank) {
		MPI_Buffer_attach(buffer, sizeof(big) + MPI_BSEND_OVERHEAD);
		MPI_Bsend(big, BIG, MPI_INT, 1, 1, *world);
	}
	FOR(FORM(MPI_Buffer_detach)(&buffer, &size), receive_big());
	free(buffer);
}

static void FORM(pass_messages)(void)
{
	const int next = 1 - rank;

	FORM(receive_each)();
	FORM(send_each)();
	EACH(FORM(MPI_Sendrecv)(big, BIG, MPI_INT, next, 1, room, BIG, MPI_INT,
				next, 1, *world, MPI_STATUS_IGNORE));
	EACH(FORM(MPI_Sendrecv_replace)(room, BIG, MPI_INT, next, 1, next, 1,
					*world, MPI_STATUS_IGNORE));
}

/* --- collective calls ----------------------------------------------------- */

static const COUNT FORM(ones)[] = { 1, 1 };
static const AT    FORM(places)[] = { 0, 1 }, FORM(at_bytes)[] = { 0, 4 };

static void FORM(call_neighbours)(void)
{
	const MPI_Aint     bytes[] = { 0, 4 };
	const MPI_Datatype types[] = { MPI_INT, MPI_INT };

	EACH(FORM(MPI_Neighbor_allgather)(mine, 1, MPI_INT, all, 1, MPI_INT,
					  ring));
	EACH(FORM(MPI_Neighbor_allgatherv)(mine, 1, MPI_INT, all, FORM(ones),
					   FORM(places), MPI_INT, ring));
	EACH(FORM(MPI_Neighbor_alltoall)(mine, 1, MPI_INT, all, 1, MPI_INT,
					 ring));
	EACH(FORM(MPI_Neighbor_alltoallv)(mine, FORM(ones), FORM(places),
					  MPI_INT, all, FORM(ones),
					  FORM(places), MPI_INT, ring));
	EACH(FORM(MPI_Neighbor_alltoallw)(mine, FORM(ones), bytes, types, all,
					  FORM(ones), bytes, types, ring));
}

static void FORM(call_collectives)(void)
{
	const MPI_Datatype types[] = { MPI_INT, MPI_INT };

	EACH(FORM(MPI_Bcast)(mine, 1, MPI_INT, 1, *world));
	EACH(FORM(MPI_Reduce)(mine, all, 1, MPI_INT, MPI_SUM, 0, *world));
	EACH(FORM(MPI_Allreduce)(mine, all, 1, MPI_INT, MPI_SUM, *world));
	EACH(FORM(MPI_Reduce_scatter)(mine, all, FORM(ones), MPI_INT, MPI_SUM,
				      *world));
	EACH(FORM(MPI_Reduce_scatter_block)(mine, all, 1, MPI_INT, MPI_SUM,
					    *world));
	EACH(FORM(MPI_Scan)(mine, all, 1, MPI_INT, MPI_SUM, *world));
	EACH(FORM(MPI_Exscan)(mine, all, 1, MPI_INT, MPI_SUM, *world));
	EACH(FORM(MPI_Gather)(mine, 1, MPI_INT, all, 1, MPI_INT, 0, *world));
	EACH(FORM(MPI_Gatherv)(mine, 1, MPI_INT, all, FORM(ones), FORM(places),
			       MPI_INT, 0, *world));
	EACH(FORM(MPI_Scatter)(mine, 1, MPI_INT, all, 1, MPI_INT, 1, *world));
	EACH(FORM(MPI_Scatterv)(mine, FORM(ones), FORM(places), MPI_INT, all, 1,
				MPI_INT, 1, *world));
	EACH(FORM(MPI_Allgather)(mine, 1, MPI_INT, all, 1, MPI_INT, *world));
	EACH(FORM(MPI_Allgatherv)(mine, 1, MPI_INT, all, FORM(ones),
				  FORM(places), MPI_INT, *world));
	EACH(FORM(MPI_Alltoall)(mine, 1, MPI_INT, all, 1, MPI_INT, *world));
	EACH(FORM(MPI_Alltoallv)(mine, FORM(ones), FORM(places), MPI_INT, all,
				 FORM(ones), FORM(places), MPI_INT, *world));
	EACH(FORM(MPI_Alltoallw)(mine, FORM(ones), FORM(at_bytes), types, all,
				 FORM(ones), FORM(at_bytes), types, *world));
	FORM(call_neighbours)();
}

/* --- persistent collective calls ------------------------------------------ */

#if MPI_VERSION >= 4
/* Made and used. */
#define KEPT(CALL, ...)                                            \
	do {                                                       \
		MPI_Request r_;                                    \
                                                                   \
		EACH(FORM(CALL)(__VA_ARGS__, MPI_INFO_NULL, &r_)); \
		EXPECT(begin_and_end(&r_) == MPI_SUCCESS);         \
		MPI_Request_free(&r_);                             \
	} while (0)

static void FORM(make_persistent_neighbours)(void)
{
	const MPI_Aint     bytes[] = { 0, 4 };
	const MPI_Datatype types[] = { MPI_INT, MPI_INT };

	KEPT(MPI_Neighbor_allgather_init, mine, 1, MPI_INT, all, 1, MPI_INT,
	     ring);
	KEPT(MPI_Neighbor_allgatherv_init, mine, 1, MPI_INT, all, FORM(ones),
	     FORM(places), MPI_INT, ring);
	KEPT(MPI_Neighbor_alltoall_init, mine, 1, MPI_INT, all, 1, MPI_INT,
	     ring);
	KEPT(MPI_Neighbor_alltoallv_init, mine, FORM(ones), FORM(places),
	     MPI_INT, all, FORM(ones), FORM(places), MPI_INT, ring);
	KEPT(MPI_Neighbor_alltoallw_init, mine, FORM(ones), bytes, types, all,
	     FORM(ones), bytes, types, ring);
}

static void FORM(make_persistent)(void)
{
	const MPI_Datatype types[] = { MPI_INT, MPI_INT };

	KEPT(MPI_Bcast_init, mine, 1, MPI_INT, 1, *world);
	KEPT(MPI_Reduce_init, mine, all, 1, MPI_INT, MPI_SUM, 0, *world);
	KEPT(MPI_Allreduce_init, mine, all, 1, MPI_INT, MPI_SUM, *world);
	KEPT(MPI_Reduce_scatter_init, mine, all, FORM(ones), MPI_INT, MPI_SUM,
	     *world);
	KEPT(MPI_Reduce_scatter_block_init, mine, all, 1, MPI_INT, MPI_SUM,
	     *world);
	KEPT(MPI_Scan_init, mine, all, 1, MPI_INT, MPI_SUM, *world);
	KEPT(MPI_Exscan_init, mine, all, 1, MPI_INT, MPI_SUM, *world);
	KEPT(MPI_Gather_init, mine, 1, MPI_INT, all, 1, MPI_INT, 0, *world);
	KEPT(MPI_Gatherv_init, mine, 1, MPI_INT, all, FORM(ones), FORM(places),
	     MPI_INT, 0, *world);
	KEPT(MPI_Scatter_init, mine, 1, MPI_INT, all, 1, MPI_INT, 1, *world);
	KEPT(MPI_Scatterv_init, mine, FORM(ones), FORM(places), MPI_INT, all, 1,
	     MPI_INT, 1, *world);
	KEPT(MPI_Allgather_init, mine, 1, MPI_INT, all, 1, MPI_INT, *world);
	KEPT(MPI_Allgatherv_init, mine, 1, MPI_INT, all, FORM(ones),
	     FORM(places), MPI_INT, *world);
	KEPT(MPI_Alltoall_init, mine, 1, MPI_INT, all, 1, MPI_INT, *world);
	KEPT(MPI_Alltoallv_init, mine, FORM(ones), FORM(places), MPI_INT, all,
	     FORM(ones), FORM(places), MPI_INT, *world);
	KEPT(MPI_Alltoallw_init, mine, FORM(ones), FORM(at_bytes), types, all,
	     FORM(ones), FORM(at_bytes), types, *world);
	FORM(make_persistent_neighbours)();
}
#undef KEPT
#endif

/* --- windows -------------------------------------------------------------- */

static void FORM(make_windows)(void)
{
	MPI_Win win;
	int    *base, memory = 0;

	EACH(FORM(MPI_Win_create)(&memory, sizeof(memory), sizeof(memory),
				  MPI_INFO_NULL, *world, &win));
	EACH(MPI_Win_free(&win));
	EACH(FORM(MPI_Win_allocate)(sizeof(*base), sizeof(*base), MPI_INFO_NULL,
				    *world, &base, &win));
	EACH(MPI_Win_free(&win));
	EACH(FORM(MPI_Win_allocate_shared)(sizeof(*base), sizeof(*base),
					   MPI_INFO_NULL, *world, &base, &win));
	EACH(MPI_Win_free(&win));
}

/* --- files ---------------------------------------------------------------- */

/* Each process reads what it has written. Those that all make together may wait
 * for process 1, and the others for the disk. */
static void FORM(use_alone)(void)
{
	MPI_Status status;

	mine[0] = 10 + rank;
	EACH(FORM(MPI_File_write_at)(file, rank, mine, 1, MPI_INT, &status));
	mine[0] = 0;
	EACH(FORM(MPI_File_read_at)(file, rank, mine, 1, MPI_INT, &status));
	EXPECT(mine[0] == 10 + rank);
	MPI_File_seek(file, rank, MPI_SEEK_SET);
	EACH(FORM(MPI_File_write)(file, mine, 1, MPI_INT, &status));
	MPI_File_seek(file, rank, MPI_SEEK_SET);
	mine[0] = 0;
	EACH(FORM(MPI_File_read)(file, mine, 1, MPI_INT, &status));
	EXPECT(mine[0] == 10 + rank);
	EACH(FORM(MPI_File_write_shared)(file, mine, 1, MPI_INT, &status));
	EACH(FORM(MPI_File_read_shared)(file, mine, 1, MPI_INT, &status));
}

static void FORM(use_together)(void)
{
	MPI_Status status;

	EACH(FORM(MPI_File_write_at_all)(file, rank, mine, 1, MPI_INT,
					 &status));
	EACH(FORM(MPI_File_read_at_all)(file, rank, mine, 1, MPI_INT, &status));
	EACH(FORM(MPI_File_write_all)(file, mine, 1, MPI_INT, &status));
	EACH(FORM(MPI_File_read_all)(file, mine, 1, MPI_INT, &status));
	EACH(FORM(MPI_File_write_ordered)(file, mine, 1, MPI_INT, &status));
	EACH(FORM(MPI_File_read_ordered)(file, mine, 1, MPI_INT, &status));
}

static void FORM(use_in_two_steps)(void)
{
	MPI_Status status;

	EACH(FORM(MPI_File_write_at_all_begin)(file, rank, mine, 1, MPI_INT));
	EACH(MPI_File_write_at_all_end(file, mine, &status));
	EACH(FORM(MPI_File_read_at_all_begin)(file, rank, mine, 1, MPI_INT));
	EACH(MPI_File_read_at_all_end(file, mine, &status));
	EACH(FORM(MPI_File_write_all_begin)(file, mine, 1, MPI_INT));
	EACH(MPI_File_write_all_end(file, mine, &status));
	EACH(FORM(MPI_File_read_all_begin)(file, mine, 1, MPI_INT));
	EACH(MPI_File_read_all_end(file, mine, &status));
	EACH(FORM(MPI_File_write_ordered_begin)(file, mine, 1, MPI_INT));
	EACH(MPI_File_write_ordered_end(file, mine, &status));
	EACH(FORM(MPI_File_read_ordered_begin)(file, mine, 1, MPI_INT));
	EACH(MPI_File_read_ordered_end(file, mine, &status));
}

static void FORM(use_file)(void)
{
	FORM(use_alone)();
	FORM(use_together)();
	FORM(use_in_two_steps)();
}

#undef FORM
#undef COUNT
#undef AT
