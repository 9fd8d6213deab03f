/* SPDX-License-Identifier: Apache-2.0 */
/* level.c - with a level of threads that is too low, sennit_mpi_start says so,
 * and all calls stay MPI's own. */
#include "ranks.h"

static sennit_scheduler *scheduler;

static void meet_in_task(void *unused)
{
	(void)unused;
	EXPECT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

TEST(a_level_that_is_too_low_is_refused)
{
	scheduler =
		start_with(SENNIT_CONFIG(.workers = 1,
					 .stack_size = SENNIT_MPI_STACK_SIZE));
	assert_int_equal(sennit_mpi_start(scheduler, NULL), -ENOTSUP);
	in_task_of(scheduler, meet_in_task, NULL);
	end_scheduler(scheduler);
}

IN_MPI(MPI_THREAD_FUNNELED);
