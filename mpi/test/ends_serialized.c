/* SPDX-License-Identifier: Apache-2.0 */
/* ends_serialized.c - with MPI_THREAD_SERIALIZED a fiber may not make a call
 * that would run on a helper thread: it is misuse, and is named. */
#include "ranks.h"

static void split(void *unused)
{
	MPI_Comm comm;

	(void)unused;
	MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
}

TEST(a_call_for_a_helper_needs_all_threads)
{
	int provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
	alarm(100);
	in_task_of(start_mpi_scheduler(1), split, NULL);
}
