/* SPDX-License-Identifier: Apache-2.0 */
/* every_collective.h - calls each collective of MPI on `comm`, and looks at the
 * results, which are worked out by hand. Included once for each form of the
 * calls:
 *	FORM(name)   MPI_Bcast, or MPI_Bcast_c
 *	COUNT, AT    its types of counts and displacements
 */

static void FORM(synchronise)(void)
{
	int value = rank == ranks - 1 ? 77 : 0;

	EXPECT(MPI_Barrier(comm) == MPI_SUCCESS);
	EXPECT(FORM(MPI_Bcast)(&value, 1, MPI_INT, ranks - 1, comm) ==
	       MPI_SUCCESS);
	EXPECT(value == 77);
}

static void FORM(reduce)(void)
{
	int mine[2] = { rank + 1, -rank }, sum[2] = { 0, 0 }, one = 0;
	int all = ranks * (ranks + 1) / 2, before = rank * (rank + 1) / 2;

	EXPECT(FORM(MPI_Reduce)(mine, sum, 2, MPI_INT, MPI_SUM, 0, comm) ==
	       MPI_SUCCESS);
	EXPECT(rank || (sum[0] == all && sum[1] == ranks - all));
	EXPECT(FORM(MPI_Allreduce)(mine, sum, 2, MPI_INT, MPI_SUM, comm) ==
	       MPI_SUCCESS);
	EXPECT(sum[0] == all && sum[1] == ranks - all);
	EXPECT(FORM(MPI_Allreduce)(MPI_IN_PLACE, sum, 1, MPI_INT, MPI_MAX,
				   comm) == MPI_SUCCESS);
	EXPECT(sum[0] == all);
	EXPECT(FORM(MPI_Scan)(mine, &one, 1, MPI_INT, MPI_SUM, comm) ==
	       MPI_SUCCESS);
	EXPECT(one == before + rank + 1);
	EXPECT(FORM(MPI_Exscan)(mine, &one, 1, MPI_INT, MPI_SUM, comm) ==
	       MPI_SUCCESS);
	EXPECT(!rank || one == before);
}

static void FORM(reduce_and_scatter)(void)
{
	COUNT counts[MOST];
	int   mine[MOST], one = 0;

	for (int i = 0; i < ranks; i++) {
		mine[i] = rank + 10 * i;
		counts[i] = 1;
	}
	EXPECT(FORM(MPI_Reduce_scatter)(mine, &one, counts, MPI_INT, MPI_SUM,
					comm) == MPI_SUCCESS);
	EXPECT(one == ranks * (ranks - 1) / 2 + 10 * rank * ranks);
	one = 0;
	EXPECT(FORM(MPI_Reduce_scatter_block)(mine, &one, 1, MPI_INT, MPI_SUM,
					      comm) == MPI_SUCCESS);
	EXPECT(one == ranks * (ranks - 1) / 2 + 10 * rank * ranks);
}

/* Process i has i + 1 numbers, 100 * i and on. */
struct FORM(uneven) {
	COUNT counts[MOST];
	AT    at[MOST];
	int   mine[MOST], all[MOST * MOST], total;
};

static void FORM(make_uneven)(struct FORM(uneven) * u)
{
	memset(u, 0, sizeof(*u));
	for (int i = 0; i < ranks; i++) {
		u->counts[i] = i + 1;
		u->at[i] = u->total;
		u->total += i + 1;
	}
	for (int i = 0; i <= rank; i++)
		u->mine[i] = 100 * rank + i;
}

static void FORM(expect_all)(const struct FORM(uneven) * u)
{
	for (int i = 0; i < ranks; i++)
		for (int k = 0; k <= i; k++)
			EXPECT(u->all[u->at[i] + k] == 100 * i + k);
}

static void FORM(gather_and_scatter)(void)
{
	struct FORM(uneven) u;
	int all[MOST], one = 0;

	EXPECT(FORM(MPI_Gather)(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm) ==
	       MPI_SUCCESS);
	for (int i = 0; !rank && i < ranks; i++)
		EXPECT(all[i] == i);
	EXPECT(FORM(MPI_Scatter)(all, 1, MPI_INT, &one, 1, MPI_INT, 0, comm) ==
	       MPI_SUCCESS);
	EXPECT(one == rank);
	memset(all, 0, sizeof(all));
	EXPECT(FORM(MPI_Allgather)(&rank, 1, MPI_INT, all, 1, MPI_INT, comm) ==
	       MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == i);
	FORM(make_uneven)(&u);
	EXPECT(FORM(MPI_Gatherv)(u.mine, rank + 1, MPI_INT, u.all, u.counts,
				 u.at, MPI_INT, 0, comm) == MPI_SUCCESS);
	if (!rank)
		FORM(expect_all)(&u);
	memset(u.mine, 0, sizeof(u.mine));
	EXPECT(FORM(MPI_Scatterv)(u.all, u.counts, u.at, MPI_INT, u.mine,
				  rank + 1, MPI_INT, 0, comm) == MPI_SUCCESS);
	for (int i = 0; i <= rank; i++)
		EXPECT(u.mine[i] == 100 * rank + i);
	memset(u.all, 0, sizeof(u.all));
	EXPECT(FORM(MPI_Allgatherv)(u.mine, rank + 1, MPI_INT, u.all, u.counts,
				    u.at, MPI_INT, comm) == MPI_SUCCESS);
	FORM(expect_all)(&u);
}

static void FORM(all_to_all)(void)
{
	MPI_Datatype types[MOST];
	COUNT        counts[MOST];
	AT           at[MOST], bytes[MOST];
	int          mine[MOST], all[MOST];

	for (int i = 0; i < ranks; i++) {
		mine[i] = 100 * rank + i;
		counts[i] = 1;
		at[i] = i;
		bytes[i] = i * (int)sizeof(int);
		types[i] = MPI_INT;
	}
	memset(all, 0, sizeof(all));
	EXPECT(FORM(MPI_Alltoall)(mine, 1, MPI_INT, all, 1, MPI_INT, comm) ==
	       MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == 100 * i + rank);
	memset(all, 0, sizeof(all));
	EXPECT(FORM(MPI_Alltoallv)(mine, counts, at, MPI_INT, all, counts, at,
				   MPI_INT, comm) == MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == 100 * i + rank);
	memset(all, 0, sizeof(all));
	EXPECT(FORM(MPI_Alltoallw)(mine, counts, bytes, types, all, counts,
				   bytes, types, comm) == MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == 100 * i + rank);
}

static void FORM(do_all)(void *unused)
{
	(void)unused;
	FORM(synchronise)();
	FORM(reduce)();
	FORM(reduce_and_scatter)();
	FORM(gather_and_scatter)();
	FORM(all_to_all)();
}

#undef FORM
#undef COUNT
#undef AT
