/* SPDX-License-Identifier: Apache-2.0 */
/* serialized.c - with MPI_THREAD_SERIALIZED one thread is in MPI at a time:
 * fibers of several workers, threads and the library's own. */
#include "ranks.h"

enum { PAIRS = 8, ROUNDS = 30 };

static int value[PAIRS];

static void pass_round(void *at)
{
	int *v = at;
	int  tag = (int)(v - value);

	for (int i = 0; i < ROUNDS; i++)
		EXPECT(MPI_Sendrecv_replace(v, 1, MPI_INT, next_rank(), tag,
					    last_rank(), tag, MPI_COMM_WORLD,
					    MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

/* The calls that the library does not define, under its lock. */
static void pass_by_requests(void *at)
{
	int *v = at;
	int  tag = (int)(v - value);

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Request request[2];
		int         got;

		sennit_mpi_enter();
		MPI_Irecv(&got, 1, MPI_INT, last_rank(), tag, MPI_COMM_WORLD,
			  &request[0]);
		MPI_Isend(v, 1, MPI_INT, next_rank(), tag, MPI_COMM_WORLD,
			  &request[1]);
		sennit_mpi_leave();
		EXPECT(MPI_Waitall(2, request, MPI_STATUSES_IGNORE) ==
		       MPI_SUCCESS);
		*v = got;
	}
}

TEST_IN_JOB(fibers_and_threads_take_turns_in_mpi)
{
	struct errand e[PAIRS];

	for (int i = 0; i < PAIRS; i++)
		value[i] = 100 * i + rank;
	for (int i = 0; i < PAIRS - 1; i++)
		begin_in(j->s, &e[i], i % 2 ? pass_round : pass_by_requests,
			 &value[i]);
	pass_round(&value[PAIRS - 1]);
	for (int i = 0; i < PAIRS - 1; i++)
		end_errand(&e[i]);
	for (int i = 0; i < PAIRS; i++)
		assert_int_equal(value[i],
				 100 * i + ((rank - ROUNDS) % ranks + ranks) %
						   ranks);
	MPI_Barrier(MPI_COMM_WORLD);
}

IN_MPI(MPI_THREAD_SERIALIZED);
