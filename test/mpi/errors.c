/* SPDX-License-Identifier: Apache-2.0 */
/* errors.c - errors of MPI come back as they are: the codes of its own calls,
 * and its error handlers are called. ends_fatal.c has MPI_ERRORS_ARE_FATAL. */
#include "ranks.h"

#define TAG 5

static int class_of(int code)
{
	int class = -1;

	MPI_Error_class(code, &class);
	return class;
}

/* Two numbers where there is room for one. */
static void send_too_much(void)
{
	int two[2] = { 1, 2 };

	EXPECT(MPI_Send(two, 2, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD) ==
	       MPI_SUCCESS);
}

static void receive_too_much(void *unused)
{
	MPI_Status status;
	int        one;

	(void)unused;
	MPI_Barrier(MPI_COMM_WORLD); /* so that the receive waits */
	if (ranks > 1)
		sennit_yield();
	send_too_much();
	EXPECT(class_of(MPI_Recv(&one, 1, MPI_INT, last_rank(), TAG,
				 MPI_COMM_WORLD, &status)) == MPI_ERR_TRUNCATE);
}

struct waiting {
	MPI_Request request;
	int         one;
};

static void wait_for_too_much(void *waiting)
{
	struct waiting *w = waiting;

	EXPECT(class_of(MPI_Wait(&w->request, MPI_STATUS_IGNORE)) ==
	       MPI_ERR_TRUNCATE);
	EXPECT(w->request == MPI_REQUEST_NULL);
}

/* The error comes while the fiber waits. */
static void fail_while_waiting(void *unused)
{
	struct waiting w;
	struct errand  e;

	(void)unused;
	MPI_Irecv(&w.one, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &w.request);
	begin_beside(&e, wait_for_too_much, &w);
	sennit_yield();
	MPI_Barrier(MPI_COMM_WORLD);
	send_too_much();
	end_errand(&e);
}

static void fail_among_several(void *unused)
{
	MPI_Request request[2];
	MPI_Status  status[2];
	int         one, other, value = 4;

	(void)unused;
	MPI_Irecv(&one, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &request[0]);
	MPI_Irecv(&other, 1, MPI_INT, last_rank(), TAG + 1, MPI_COMM_WORLD,
		  &request[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	send_too_much();
	MPI_Send(&value, 1, MPI_INT, next_rank(), TAG + 1, MPI_COMM_WORLD);
	EXPECT(MPI_Waitall(2, request, status) == MPI_ERR_IN_STATUS);
	EXPECT(class_of(status[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
	EXPECT(status[1].MPI_ERROR == MPI_SUCCESS);
	EXPECT(other == 4);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void call_wrongly(void *unused)
{
	MPI_Request request;
	int         value = 0;

	(void)unused;
	EXPECT(class_of(MPI_Send(&value, 1, MPI_INT, ranks, TAG,
				 MPI_COMM_WORLD)) == MPI_ERR_RANK);
	EXPECT(class_of(MPI_Recv(&value, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
	EXPECT(class_of(MPI_Bcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD)) ==
	       MPI_ERR_ROOT);
	request = MPI_REQUEST_NULL;
	EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

static void errors_are_returned(void **state)
{
	struct job *j = *state;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	in_task_of(j->s, receive_too_much, NULL);
	in_task_of(j->s, fail_while_waiting, NULL);
	in_task_of(j->s, fail_among_several, NULL);
	in_task_of(j->s, call_wrongly, NULL);
}

/* --- the program's handler ------------------------------------------------ */

static atomic_int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	EXPECT(class_of(*code) == MPI_ERR_TRUNCATE ||
	       *code == MPI_ERR_IN_STATUS);
	atomic_fetch_add(&handled, 1);
}

static void the_programs_handler_is_called(void **state)
{
	struct job    *j = *state;
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	atomic_store(&handled, 0);
	in_task_of(j->s, fail_while_waiting, NULL);
	assert_int_equal(atomic_load(&handled), 1);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&handler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_JOB(errors_are_returned),
		IN_JOB(the_programs_handler_is_called),
	};

	return RUN_RANKS("mpi/errors", tests);
}
