/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c - waits for requests: with a deadline, for all, for any, and as
 * events beside others.
 *
 * Each process sends to the next one, and the last to the first.
 *
 *	mpirun -n 2 waits
 */
#include <errno.h>
#include <mpi.h>
#include <sennit.h>
#include <sennit/mpi.h>
#include <stdio.h>

#define CHECK(claim)                                                        \
	do {                                                                \
		if (!(claim)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #claim); \
			MPI_Abort(MPI_COMM_WORLD, 1);                       \
		}                                                           \
	} while (0)

enum { SEVERAL = 4 };

static int last, next;

/* With MPI_THREAD_SERIALIZED the program takes the library's lock for calls
 * that the library does not define. Otherwise this does nothing. */
static void receive(int *value, int tag, MPI_Request *request)
{
	sennit_mpi_enter();
	MPI_Irecv(value, 1, MPI_INT, last, tag, MPI_COMM_WORLD, request);
	sennit_mpi_leave();
}

static void send_all(void)
{
	for (int i = 0; i < SEVERAL; i++)
		CHECK(MPI_Send(&i, 1, MPI_INT, next, i, MPI_COMM_WORLD) == 0);
}

/* Nothing was sent yet, so the wait ends at its deadline. The request stays. */
static void wait_with_deadline(void)
{
	MPI_Request request;
	MPI_Status  status;
	int         value = -1, cancelled;

	receive(&value, SEVERAL, &request);
	CHECK(sennit_mpi_wait(&request, &status,
			      sennit_after(SENNIT_MILLISECOND)) == -ETIMEDOUT);
	MPI_Cancel(&request);
	CHECK(sennit_mpi_wait(&request, &status, SENNIT_UNCANCELLED) == 0);
	MPI_Test_cancelled(&status, &cancelled);
	CHECK(cancelled && value == -1);
}

static void begin_all(MPI_Request request[], int value[])
{
	for (int i = 0; i < SEVERAL; i++)
		receive(&value[i], i, &request[i]);
	send_all();
}

static void wait_for_several(void)
{
	MPI_Request request[SEVERAL];
	int         value[SEVERAL], index;

	begin_all(request, value);
	CHECK(sennit_mpi_waitany(SEVERAL, request, &index, MPI_STATUS_IGNORE,
				 SENNIT_NEVER) == 0);
	CHECK(value[index] == index);
	CHECK(sennit_mpi_waitall(SEVERAL, request, MPI_STATUSES_IGNORE,
				 SENNIT_NEVER) == 0);
	for (int i = 0; i < SEVERAL; i++)
		CHECK(value[i] == i);
}

static void wait_for_events(void)
{
	MPI_Request   request[SEVERAL];
	sennit_event  event[SEVERAL];
	sennit_event *of[SEVERAL];
	int           value[SEVERAL];

	begin_all(request, value);
	for (int i = 0; i < SEVERAL; i++) {
		sennit_event_init(&event[i], SENNIT_EVENT_AUTO);
		of[i] = &event[i];
		CHECK(sennit_mpi_event(&request[i], &event[i]) == 0);
	}
	for (int i = 0; i < SEVERAL; i++) {
		size_t which = SEVERAL;

		CHECK(!sennit_event_wait_any(of, SEVERAL, &which));
		MPI_Wait(&request[which], MPI_STATUS_IGNORE); /* at once */
		CHECK(value[which] == (int)which);
	}
}

static int show(void *unused)
{
	(void)unused;
	wait_with_deadline();
	MPI_Barrier(MPI_COMM_WORLD);
	wait_for_several();
	wait_for_events();
	return 0;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	sennit_group      g;
	int               provided, rank, ranks;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	CHECK(sennit_scheduler_create(
		      &s, SENNIT_CONFIG(.stack_size = SENNIT_MPI_STACK_SIZE)) ==
	      0);
	CHECK(sennit_mpi_start(s, NULL) == 0);
	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, show, NULL) == 0);
	CHECK(sennit_group_wait(&g) == 0);
	CHECK(sennit_mpi_stop(s, SENNIT_NEVER) == 0);
	CHECK(sennit_scheduler_shutdown(s, SENNIT_NEVER) == 0);
	MPI_Finalize();
	return 0;
}
