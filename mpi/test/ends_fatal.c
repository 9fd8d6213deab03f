/* SPDX-License-Identifier: Apache-2.0 */
/* ends_fatal.c - an error that comes while a fiber waits ends the program if
 * the handler is MPI_ERRORS_ARE_FATAL, as it does elsewhere. */
#include "ranks.h"

static void receive_too_much(void *unused)
{
	int one;

	(void)unused;
	MPI_Recv(&one, 1, MPI_INT, last_rank(), 3, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

TEST_ENTRIES(an_error_ends_the_program, struct job *j,
	     IN_JOB(an_error_ends_the_program, 1))
{
	struct errand e;
	int           two[2] = { 1, 2 };

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	begin_in(j->s, &e, receive_too_much, NULL);
	assert_soon(waits_of(j->s) == 1);
	PMPI_Send(two, 2, MPI_INT, next_rank(), 3, MPI_COMM_WORLD);
	end_errand(&e);
}

IN_MPI(MPI_THREAD_MULTIPLE);

/* Nothing has ended it. */
static int end_well(int failures)
{
	(void)failures;
	return 0;
}

AFTER_ALL(end_well);
