/* SPDX-License-Identifier: Apache-2.0 */
/* ends_death.c - a process that dies while fibers of others wait for it: MPI
 * ends the program, or the waits end at their deadlines, and the scheduler
 * ends. */
#include "ranks.h"

#include <signal.h>

/* Where MPI lets the others live, the request outlives its wait. */
static void wait_for_the_dead(void *unused)
{
	MPI_Request request;
	int         value, err;

	(void)unused;
	MPI_Irecv(&value, 1, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &request);
	err = sennit_mpi_wait(&request, MPI_STATUS_IGNORE,
			      sennit_after(20 * SENNIT_SECOND));
	EXPECT(err == -ETIMEDOUT || err > 0);
}

TEST(the_scheduler_ends_when_a_process_dies)
{
	sennit_scheduler *s;
	int               provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	alarm(100); /* no: the scheduler's end is awaited for so long */
	s = start_mpi_scheduler(2);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == ranks - 1)
		raise(SIGKILL);
	in_task_of(s, wait_for_the_dead, NULL);
	EXPECT(sennit_mpi_stop(s, SENNIT_NEVER) == 0);
	EXPECT(sennit_scheduler_shutdown(s, SENNIT_NEVER) == 0);
	printf("the scheduler has ended\n");
	fflush(stdout);
	_exit(1); /* MPI_Finalize may wait for the dead */
}
