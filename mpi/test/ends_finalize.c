/* SPDX-License-Identifier: Apache-2.0 */
/* ends_finalize.c - MPI_Finalize while a fiber waits is misuse, and is named:
 * MPI itself crashes. */
#include "ranks.h"

static void wait_for_ever(void *unused)
{
	int value;

	(void)unused;
	MPI_Recv(&value, 1, MPI_INT, next_rank(), 3, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

TEST(finalising_mpi_while_a_fiber_waits_is_misuse)
{
	sennit_scheduler *s;
	struct errand     e;
	int               provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	alarm(100);
	s = start_mpi_scheduler(1);
	begin_in(s, &e, wait_for_ever, NULL);
	EXPECT_SOON(waits_of(s) == 1);
	MPI_Finalize();
}
