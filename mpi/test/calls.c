/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - MPI's own calls between processes, made in fibers: they give what
 * they give elsewhere, and let the worker go on. */
#include "ranks.h"

#define TAG 7

/* --- the worker goes on --------------------------------------------------- */

enum { MANY = 100 };

static void receive_one(void *argument)
{
	int       *value = argument;
	MPI_Status status;

	EXPECT(MPI_Recv(value, 1, MPI_INT, last_rank(), *value, MPI_COMM_WORLD,
			&status) == MPI_SUCCESS);
	EXPECT(status.MPI_SOURCE == last_rank());
}

/* Many more fibers wait than there are workers, and the fiber that sends to
 * them runs last, on the same worker. */
static void wait_in_crowd(void *argument)
{
	struct errand e[MANY];
	int           value[MANY];

	(void)argument;
	for (int i = 0; i < MANY; i++) {
		value[i] = i;
		begin_beside(&e[i], receive_one, &value[i]);
	}
	sennit_yield();
	sennit_yield();
	for (int i = MANY; i-- > 0;) {
		int sent = 1000 * rank + i;

		MPI_Send(&sent, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD);
	}
	for (int i = 0; i < MANY; i++)
		end_errand(&e[i]);
	for (int i = 0; i < MANY; i++)
		EXPECT(value[i] == 1000 * last_rank() + i);
}

TEST_IN_JOB(waiting_fibers_leave_their_worker_to_others)
{
	in_task_of(j->s, wait_in_crowd, NULL);
}

/* --- each call ------------------------------------------------------------ */

enum { LARGE = 1 << 18 };

static int out[LARGE], in[LARGE];

/* The next one's messages: large ones wait for their receiver. */
static void expect_from_last(int count, const MPI_Status *status)
{
	int got = 0, wrong = 0;

	EXPECT(status->MPI_SOURCE == last_rank());
	EXPECT(status->MPI_TAG == TAG);
	MPI_Get_count(status, MPI_INT, &got);
	EXPECT(got == count);
	for (int i = 0; i < count; i++)
		wrong += in[i] != last_rank() * LARGE + i;
	EXPECT(!wrong);
}

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static int send_ready(const void *buf, int count, MPI_Datatype type, int dest,
		      int tag, MPI_Comm comm)
{
	/* The receive was posted before the barrier. */
	return MPI_Rsend(buf, count, type, dest, tag, comm);
}

struct sending {
	send_fn *send;
	int      count;
};

static void send_one(void *argument)
{
	struct sending *s = argument;

	EXPECT(s->send(out, s->count, MPI_INT, next_rank(), TAG,
		       MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void exchange(struct sending *s)
{
	MPI_Request   request;
	MPI_Status    status;
	struct errand e;

	memset(in, 0xff, sizeof(in));
	MPI_Irecv(in, s->count, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &request);
	MPI_Barrier(MPI_COMM_WORLD);
	begin_beside(&e, send_one, s);
	EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
	EXPECT(request == MPI_REQUEST_NULL);
	expect_from_last(s->count, &status);
	end_errand(&e);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange_each_way(void *argument)
{
	send_fn *const way[] = { MPI_Send, MPI_Ssend, send_ready };

	(void)argument;
	for (int i = 0; i < LARGE; i++)
		out[i] = rank * LARGE + i;
	for (int i = 0; i < 3; i++) {
		exchange(&(struct sending){ way[i], 0 });
		exchange(&(struct sending){ way[i], 5 });
		exchange(&(struct sending){ way[i], LARGE });
	}
}

TEST_IN_JOB(every_send_arrives_whole)
{
	in_task_of(j->s, exchange_each_way, NULL);
}

static void send_and_receive(void *argument)
{
	MPI_Status status;

	(void)argument;
	for (int i = 0; i < LARGE; i++)
		out[i] = rank * LARGE + i;
	EXPECT(MPI_Sendrecv(out, LARGE, MPI_INT, next_rank(), TAG, in, LARGE,
			    MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
			    &status) == MPI_SUCCESS);
	expect_from_last(LARGE, &status);
	memcpy(in, out, sizeof(in));
	EXPECT(MPI_Sendrecv_replace(in, LARGE, MPI_INT, next_rank(), TAG,
				    last_rank(), TAG, MPI_COMM_WORLD,
				    &status) == MPI_SUCCESS);
	expect_from_last(LARGE, &status);
}

/* Every other element, which is not contiguous. */
static void replace_strided(void *argument)
{
	MPI_Datatype every_other;
	MPI_Status   status;
	int          values[8];

	(void)argument;
	for (int i = 0; i < 8; i++)
		values[i] = 10 * rank + i;
	MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
	MPI_Type_commit(&every_other);
	EXPECT(MPI_Sendrecv_replace(values, 1, every_other, next_rank(), TAG,
				    last_rank(), TAG, MPI_COMM_WORLD,
				    &status) == MPI_SUCCESS);
	for (int i = 0; i < 8; i++)
		EXPECT(values[i] == 10 * (i % 2 ? rank : last_rank()) + i);
	MPI_Type_free(&every_other);
}

TEST_IN_JOB(send_and_receive_at_once)
{
	in_task_of(j->s, send_and_receive, NULL);
	in_task_of(j->s, replace_strided, NULL);
}

static void nobody_sends_nothing(void *unused)
{
	MPI_Status status;
	int        value = 3;

	(void)unused;
	EXPECT(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
			&status) == MPI_SUCCESS);
	EXPECT(status.MPI_SOURCE == MPI_PROC_NULL);
	EXPECT(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, TAG,
			MPI_COMM_WORLD) == MPI_SUCCESS);
}

TEST_IN_JOB(no_process_is_a_partner_too)
{
	in_task_of(j->s, nobody_sends_nothing, NULL);
}

/* --- probes --------------------------------------------------------------- */

static void send_late(void *unused)
{
	(void)unused;
	sennit_sleep(SENNIT_MILLISECOND);
	MPI_Send(out, 3, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD);
	sennit_sleep(SENNIT_MILLISECOND);
	MPI_Send(out, 4, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD);
}

static void probe(void *unused)
{
	MPI_Message   message;
	MPI_Status    status;
	struct errand e;

	(void)unused;
	for (int i = 0; i < LARGE; i++)
		out[i] = rank * LARGE + i;
	begin_beside(&e, send_late, NULL);
	EXPECT(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			 &status) == MPI_SUCCESS);
	memset(&status, 0, sizeof(status));
	EXPECT(MPI_Recv(in, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			MPI_COMM_WORLD, &status) == MPI_SUCCESS);
	expect_from_last(3, &status);
	EXPECT(MPI_Mprobe(last_rank(), TAG, MPI_COMM_WORLD, &message,
			  &status) == MPI_SUCCESS);
	EXPECT(MPI_Mrecv(in, 10, MPI_INT, &message, &status) == MPI_SUCCESS);
	expect_from_last(4, &status);
	end_errand(&e);
}

TEST_IN_JOB(probes_wait_for_a_message)
{
	in_task_of(j->s, probe, NULL);
}

/* --- several requests ----------------------------------------------------- */

enum { SEVERAL = 6 };

static void send_several(void *unused)
{
	(void)unused;
	for (int i = 0; i < SEVERAL; i++) {
		int value = 100 * rank + i;

		sennit_sleep(SENNIT_MICROSECOND);
		MPI_Send(&value, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD);
	}
}

static void begin_several(MPI_Request request[], int value[], struct errand *e)
{
	for (int i = 0; i < SEVERAL; i++)
		MPI_Irecv(&value[i], 1, MPI_INT, last_rank(), i, MPI_COMM_WORLD,
			  &request[i]);
	request[SEVERAL] = MPI_REQUEST_NULL;
	begin_beside(e, send_several, NULL);
}

static void end_several(MPI_Request request[], int value[], struct errand *e)
{
	end_errand(e);
	for (int i = 0; i < SEVERAL; i++) {
		EXPECT(request[i] == MPI_REQUEST_NULL);
		EXPECT(value[i] == 100 * last_rank() + i);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void wait_for_several(void *unused)
{
	MPI_Request   request[SEVERAL + 1];
	MPI_Status    status[SEVERAL + 1];
	struct errand e;
	int           value[SEVERAL], index[SEVERAL + 1], done, left = SEVERAL;

	(void)unused;
	begin_several(request, value, &e);
	EXPECT(MPI_Waitall(SEVERAL + 1, request, status) == MPI_SUCCESS);
	for (int i = 0; i < SEVERAL; i++)
		EXPECT(status[i].MPI_TAG == i);
	end_several(request, value, &e);

	begin_several(request, value, &e);
	for (int i = 0; i < SEVERAL; i++) {
		EXPECT(MPI_Waitany(SEVERAL + 1, request, &done, status) ==
		       MPI_SUCCESS);
		EXPECT(status[0].MPI_TAG == done);
	}
	EXPECT(MPI_Waitany(SEVERAL + 1, request, &done, status) == MPI_SUCCESS);
	EXPECT(done == MPI_UNDEFINED);
	end_several(request, value, &e);

	begin_several(request, value, &e);
	for (; left; left -= done) {
		EXPECT(MPI_Waitsome(SEVERAL + 1, request, &done, index,
				    status) == MPI_SUCCESS);
		EXPECT(done > 0 && done <= left);
		for (int i = 0; i < done; i++)
			EXPECT(status[i].MPI_TAG == index[i]);
	}
	end_several(request, value, &e);
}

TEST_IN_JOB(waits_for_several_requests)
{
	in_task_of(j->s, wait_for_several, NULL);
}

/* A persistent request stays, and is inactive after its wait. */
static void use_persistent(void *unused)
{
	MPI_Request request[2];
	MPI_Status  status;
	int         sent, got;

	(void)unused;
	MPI_Recv_init(&got, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		      &request[0]);
	MPI_Send_init(&sent, 1, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD,
		      &request[1]);
	for (int i = 0; i < 20; i++) {
		sent = 50 * rank + i;
		MPI_Startall(2, request);
		EXPECT(MPI_Wait(&request[0], &status) == MPI_SUCCESS);
		EXPECT(got == 50 * last_rank() + i);
		EXPECT(MPI_Wait(&request[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
		EXPECT(MPI_Wait(&request[0], &status) == MPI_SUCCESS);
		EXPECT(status.MPI_SOURCE == MPI_ANY_SOURCE);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

TEST_IN_JOB(persistent_requests_are_waited_for)
{
	in_task_of(j->s, use_persistent, NULL);
}

IN_MPI(MPI_THREAD_MULTIPLE);
