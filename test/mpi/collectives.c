/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c - MPI's collective calls, made in fibers on some processes and
 * outside of them on others, give what they should. */
#include "ranks.h"

enum { MOST = 16 };

static MPI_Comm comm;

/* --- results, by hand ----------------------------------------------------- */

static void synchronise(void)
{
	int value = rank == ranks - 1 ? 77 : 0;

	EXPECT(MPI_Barrier(comm) == MPI_SUCCESS);
	EXPECT(MPI_Bcast(&value, 1, MPI_INT, ranks - 1, comm) == MPI_SUCCESS);
	EXPECT(value == 77);
}

static void reduce(void)
{
	int mine[2] = { rank + 1, -rank }, sum[2] = { 0, 0 }, one = 0;
	int all = ranks * (ranks + 1) / 2, before = rank * (rank + 1) / 2;

	EXPECT(MPI_Reduce(mine, sum, 2, MPI_INT, MPI_SUM, 0, comm) ==
	       MPI_SUCCESS);
	EXPECT(rank || (sum[0] == all && sum[1] == ranks - all));
	EXPECT(MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, comm) ==
	       MPI_SUCCESS);
	EXPECT(sum[0] == all && sum[1] == ranks - all);
	EXPECT(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INT, MPI_MAX, comm) ==
	       MPI_SUCCESS);
	EXPECT(sum[0] == all);
	EXPECT(MPI_Scan(mine, &one, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
	EXPECT(one == before + rank + 1);
	EXPECT(MPI_Exscan(mine, &one, 1, MPI_INT, MPI_SUM, comm) ==
	       MPI_SUCCESS);
	EXPECT(!rank || one == before);
}

static void reduce_and_scatter(void)
{
	int mine[MOST], counts[MOST], one = 0;

	for (int i = 0; i < ranks; i++) {
		mine[i] = rank + 10 * i;
		counts[i] = 1;
	}
	EXPECT(MPI_Reduce_scatter(mine, &one, counts, MPI_INT, MPI_SUM, comm) ==
	       MPI_SUCCESS);
	EXPECT(one == ranks * (ranks - 1) / 2 + 10 * rank * ranks);
	one = 0;
	EXPECT(MPI_Reduce_scatter_block(mine, &one, 1, MPI_INT, MPI_SUM,
					comm) == MPI_SUCCESS);
	EXPECT(one == ranks * (ranks - 1) / 2 + 10 * rank * ranks);
}

/* Process i has i + 1 numbers, 100 * i and on. */
struct uneven {
	int counts[MOST], at[MOST], mine[MOST], all[MOST * MOST], total;
};

static void make_uneven(struct uneven *u)
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

static void expect_all(const struct uneven *u)
{
	for (int i = 0; i < ranks; i++)
		for (int k = 0; k <= i; k++)
			EXPECT(u->all[u->at[i] + k] == 100 * i + k);
}

static void gather_and_scatter(void)
{
	struct uneven u;
	int           all[MOST], one = 0;

	EXPECT(MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm) ==
	       MPI_SUCCESS);
	for (int i = 0; !rank && i < ranks; i++)
		EXPECT(all[i] == i);
	EXPECT(MPI_Scatter(all, 1, MPI_INT, &one, 1, MPI_INT, 0, comm) ==
	       MPI_SUCCESS);
	EXPECT(one == rank);
	memset(all, 0, sizeof(all));
	EXPECT(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm) ==
	       MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == i);
	make_uneven(&u);
	EXPECT(MPI_Gatherv(u.mine, rank + 1, MPI_INT, u.all, u.counts, u.at,
			   MPI_INT, 0, comm) == MPI_SUCCESS);
	if (!rank)
		expect_all(&u);
	memset(u.mine, 0, sizeof(u.mine));
	EXPECT(MPI_Scatterv(u.all, u.counts, u.at, MPI_INT, u.mine, rank + 1,
			    MPI_INT, 0, comm) == MPI_SUCCESS);
	for (int i = 0; i <= rank; i++)
		EXPECT(u.mine[i] == 100 * rank + i);
	memset(u.all, 0, sizeof(u.all));
	EXPECT(MPI_Allgatherv(u.mine, rank + 1, MPI_INT, u.all, u.counts, u.at,
			      MPI_INT, comm) == MPI_SUCCESS);
	expect_all(&u);
}

static void all_to_all(void)
{
	MPI_Datatype types[MOST];
	int          mine[MOST], all[MOST], counts[MOST], at[MOST], bytes[MOST];

	for (int i = 0; i < ranks; i++) {
		mine[i] = 100 * rank + i;
		counts[i] = 1;
		at[i] = i;
		bytes[i] = i * (int)sizeof(int);
		types[i] = MPI_INT;
	}
	memset(all, 0, sizeof(all));
	EXPECT(MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm) ==
	       MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == 100 * i + rank);
	memset(all, 0, sizeof(all));
	EXPECT(MPI_Alltoallv(mine, counts, at, MPI_INT, all, counts, at,
			     MPI_INT, comm) == MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == 100 * i + rank);
	memset(all, 0, sizeof(all));
	EXPECT(MPI_Alltoallw(mine, counts, bytes, types, all, counts, bytes,
			     types, comm) == MPI_SUCCESS);
	for (int i = 0; i < ranks; i++)
		EXPECT(all[i] == 100 * i + rank);
}

static void do_all(void *unused)
{
	(void)unused;
	synchronise();
	reduce();
	reduce_and_scatter();
	gather_and_scatter();
	all_to_all();
}

/* --- where they are called ------------------------------------------------ */

static void collectives_in_fibers(void **state)
{
	struct job *j = *state;

	comm = MPI_COMM_WORLD;
	in_task_of(j->s, do_all, NULL);
}

/* As MPI's blocking and nonblocking collectives do not match, both sides must
 * be translated. */
static void some_in_fibers_and_some_in_threads(void **state)
{
	struct job *j = *state;

	comm = MPI_COMM_WORLD;
	for (int odd = 0; odd < 2; odd++) {
		if (rank % 2 == odd)
			in_task_of(j->s, do_all, NULL);
		else
			do_all(NULL);
	}
}

/* More communicators than workers, at once: each process waits in another one
 * first. */
enum { COMMS = 12 };

static MPI_Comm comms[COMMS];

static void meet(void *at)
{
	int value = (int)((MPI_Comm *)at - comms), sum = 0;

	EXPECT(MPI_Barrier(*(MPI_Comm *)at) == MPI_SUCCESS);
	EXPECT(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM,
			     *(MPI_Comm *)at) == MPI_SUCCESS);
	EXPECT(sum == value * ranks);
}

static void many_collectives_at_once_in_any_order(void **state)
{
	struct job   *j = *state;
	struct errand e[COMMS];

	for (int i = 0; i < COMMS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < COMMS; i++)
		begin_in(j->s, &e[i], meet,
			 &comms[rank % 2 ? i : COMMS - 1 - i]);
	for (int i = 0; i < COMMS; i++)
		end_errand(&e[i]);
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_free(&comms[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_JOB(collectives_in_fibers),
		IN_JOB(some_in_fibers_and_some_in_threads),
		IN_JOB(many_collectives_at_once_in_any_order),
	};

	return RUN_RANKS("mpi/collectives", tests);
}
