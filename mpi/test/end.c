/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - the end of a scheduler, and sennit_mpi_stop, wait for what is
 * outstanding. */
#include "ranks.h"

#define TAG 31

static void receive(void *value)
{
	MPI_Recv(value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

struct announced {
	MPI_Request  request;
	sennit_event event;
	int          value;
};

static void announce(void *announced)
{
	struct announced *a = announced;

	sennit_event_init(&a->event, SENNIT_EVENT_MANUAL);
	MPI_Irecv(&a->value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &a->request);
	EXPECT(sennit_mpi_event(&a->request, &a->event) == 0);
}

static void send(int value)
{
	PMPI_Send(&value, 1, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD);
}

TEST_IN_JOB(stop_waits_for_what_is_outstanding)
{
	struct errand e;
	int           value = 0;

	begin_in(j->s, &e, receive, &value);
	assert_soon(waits_of(j->s) == 1);
	assert_int_equal(
		sennit_mpi_stop(j->s, sennit_after(SENNIT_MILLISECOND)),
		-ETIMEDOUT);
	PMPI_Barrier(MPI_COMM_WORLD);
	send(8);
	assert_int_equal(sennit_mpi_stop(j->s, SENNIT_NEVER), 0);
	end_errand(&e);
	assert_int_equal(value, 8);
	assert_int_equal(sennit_mpi_start(j->s, NULL), 0);
}

/* No fiber waits, and no task is left: the request alone keeps it. */
TEST_IN_JOB(the_end_waits_for_announced_requests)
{
	struct announced  a;
	sennit_scheduler *s = start_mpi_scheduler(j->workers);

	in_task_of(s, announce, &a);
	assert_int_equal(sennit_scheduler_shutdown(
				 s, sennit_after(20 * SENNIT_MILLISECOND)),
			 -ETIMEDOUT);
	assert_false(sennit_event_is_set(&a.event));
	PMPI_Barrier(MPI_COMM_WORLD);
	send(9);
	end_scheduler(s);
	assert_true(sennit_event_is_set(&a.event));
	MPI_Wait(&a.request, MPI_STATUS_IGNORE);
	assert_int_equal(a.value, 9);
	assert_int_equal(sennit_mpi_stop(s, SENNIT_NEVER), 0);
}

TEST_IN_JOB(the_end_waits_for_waiting_fibers)
{
	sennit_scheduler *s = start_mpi_scheduler(j->workers);
	int               value = 0;
	const sennit_task t = { .run = receive, .argument = &value };

	assert_int_equal(sennit_schedule_task_on(s, &t), 0);
	assert_int_equal(sennit_scheduler_shutdown(
				 s, sennit_after(20 * SENNIT_MILLISECOND)),
			 -ETIMEDOUT);
	PMPI_Barrier(MPI_COMM_WORLD);
	send(10);
	end_scheduler(s);
	assert_int_equal(value, 10);
	assert_int_equal(sennit_mpi_stop(s, SENNIT_NEVER), 0);
}

/* A worker that has nothing else to do retires, and its request is announced
 * all the same. */
TEST_IN_JOB(a_worker_that_retires_leaves_no_request_behind)
{
	struct announced  a;
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = 2, .stack_size = SENNIT_MPI_STACK_SIZE,
			      .retire_ms = 1));

	assert_int_equal(sennit_mpi_start(s, NULL), 0);
	in_task_of(s, announce, &a);
	usleep(20000);
	PMPI_Barrier(MPI_COMM_WORLD);
	send(11);
	EXPECT(!sennit_event_wait(&a.event));
	MPI_Wait(&a.request, MPI_STATUS_IGNORE);
	assert_int_equal(a.value, 11);
	assert_int_equal(sennit_mpi_stop(s, SENNIT_NEVER), 0);
	end_scheduler(s);
}

IN_MPI(MPI_THREAD_MULTIPLE);
