/* SPDX-License-Identifier: Apache-2.0 */
/* ends_in_fiber.c - MPI_Finalize in a fiber of a scheduler with MPI is misuse,
 * and is named: it would wait for other processes there. */
#include "ranks.h"

static void finalize(void *unused)
{
	(void)unused;
	MPI_Finalize();
}

TEST(a_fiber_may_not_finalise_mpi)
{
	int provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	alarm(100);
	in_task_of(start_mpi_scheduler(1), finalize, NULL);
}
