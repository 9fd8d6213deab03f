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

/* Two numbers where there is room for one. *sent must stay until the receive
 * is over: a message to oneself may wait for it. */
struct sending {
	MPI_Request request;
	int         two[2];
};

static void send_too_much(struct sending *sent)
{
	sent->two[0] = sent->two[1] = 7;
	EXPECT(MPI_Isend(sent->two, 2, MPI_INT, next_rank(), TAG,
			 MPI_COMM_WORLD, &sent->request) == MPI_SUCCESS);
}

static void end_sending(struct sending *sent)
{
	EXPECT(PMPI_Wait(&sent->request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	MPI_Barrier(MPI_COMM_WORLD);
}

struct waiting {
	MPI_Request request;
	MPI_Status  status;
	int         one;
	int         error;
};

static void begin_receive(struct waiting *w)
{
	MPI_Irecv(&w->one, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &w->request);
	PMPI_Barrier(MPI_COMM_WORLD);
}

static void wait_for_it(void *waiting)
{
	struct waiting *w = waiting;

	w->error = class_of(MPI_Wait(&w->request, MPI_STATUS_IGNORE));
	EXPECT(w->request == MPI_REQUEST_NULL);
}

/* What MPI itself says of it: Open MPI 4.1 lets a process send too much to
 * itself. */
static int plain_error(void)
{
	struct sending sent;
	struct waiting w;

	begin_receive(&w);
	send_too_much(&sent);
	w.error = class_of(PMPI_Wait(&w.request, MPI_STATUS_IGNORE));
	EXPECT(w.error == MPI_ERR_TRUNCATE || ranks == 1);
	end_sending(&sent);
	return w.error;
}

static int plain;

static void fail_at_once(void *unused)
{
	struct sending sent;
	MPI_Status     status;
	int            one, flag = 0;

	(void)unused;
	send_too_much(&sent);
	while (!flag)
		MPI_Iprobe(last_rank(), TAG, MPI_COMM_WORLD, &flag, &status);
	EXPECT(class_of(MPI_Recv(&one, 1, MPI_INT, last_rank(), TAG,
				 MPI_COMM_WORLD, &status)) == MPI_ERR_TRUNCATE);
	end_sending(&sent);
}

/* The error comes while the fiber waits. */
static void fail_while_waiting(void *unused)
{
	struct sending sent;
	struct waiting w;
	struct errand  e;

	(void)unused;
	begin_receive(&w);
	begin_beside(&e, wait_for_it, &w);
	sennit_yield();
	send_too_much(&sent);
	end_errand(&e);
	EXPECT(w.error == plain);
	end_sending(&sent);
}

static void fail_among_several(void *unused)
{
	struct sending sent;
	MPI_Request    request[2];
	MPI_Status     status[2];
	int            one, other, value = 4, err;

	(void)unused;
	MPI_Irecv(&one, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &request[0]);
	MPI_Irecv(&other, 1, MPI_INT, last_rank(), TAG + 1, MPI_COMM_WORLD,
		  &request[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	send_too_much(&sent);
	MPI_Send(&value, 1, MPI_INT, next_rank(), TAG + 1, MPI_COMM_WORLD);
	err = MPI_Waitall(2, request, status);
	EXPECT(err == (plain ? MPI_ERR_IN_STATUS : MPI_SUCCESS));
	EXPECT(class_of(status[0].MPI_ERROR) == plain);
	EXPECT(status[1].MPI_ERROR == MPI_SUCCESS);
	EXPECT(other == 4);
	end_sending(&sent);
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

/* Nothing is sent, so nothing may come back: the receive must not be waited
 * for, nor be left behind, where it would take a later message. */
static void exchange_wrongly(void *unused)
{
	int        value = 8, got = 0;
	MPI_Status status;

	(void)unused;
	for (int source = -1; source < 1; source++) {
		int from = source ? last_rank() : MPI_PROC_NULL;

		EXPECT(class_of(MPI_Sendrecv(&value, 1, MPI_INT, ranks, TAG,
					     &got, 1, MPI_INT, from, TAG,
					     MPI_COMM_WORLD, &status)) ==
		       MPI_ERR_RANK);
		EXPECT(class_of(MPI_Sendrecv_replace(
			       &got, 1, MPI_INT, ranks, TAG, from, TAG,
			       MPI_COMM_WORLD, &status)) == MPI_ERR_RANK);
	}
	EXPECT(class_of(MPI_Sendrecv(&value, 1, MPI_INT, next_rank(), TAG, &got,
				     1, MPI_INT, ranks, TAG, MPI_COMM_WORLD,
				     &status)) == MPI_ERR_RANK);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(MPI_Sendrecv(&value, 1, MPI_INT, next_rank(), TAG, &got, 1,
			    MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
			    &status) == MPI_SUCCESS);
	EXPECT(got == 8);
}

TEST_IN_JOB(errors_are_returned)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	plain = plain_error();
	in_task_of(j->s, fail_at_once, NULL);
	in_task_of(j->s, fail_while_waiting, NULL);
	in_task_of(j->s, fail_among_several, NULL);
	in_task_of(j->s, call_wrongly, NULL);
	in_task_of(j->s, exchange_wrongly, NULL);
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

TEST_IN_JOB(the_programs_handler_is_called)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	plain = plain_error();
	atomic_store(&handled, 0);
	in_task_of(j->s, fail_while_waiting, NULL);
	assert_int_equal(atomic_load(&handled), plain ? 1 : 0);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&handler);
}

IN_MPI(MPI_THREAD_MULTIPLE);
