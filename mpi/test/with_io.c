/* SPDX-License-Identifier: Apache-2.0 */
/* with_io.c - fibers of one worker wait for sockets and for MPI at the same
 * time: neither keeps the other waiting. */
#include "ranks.h"

#include <sennit/io.h>
#include <sys/socket.h>

#define TAG 41

enum { ROUNDS = 50 };

static int pair[2];

static void echo(void *unused)
{
	int value;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(sennit_read(pair[1], &value, sizeof(value),
				   SENNIT_NEVER) == sizeof(value));
		EXPECT(sennit_write(pair[1], &value, sizeof(value),
				    SENNIT_NEVER) == sizeof(value));
	}
}

/* Each round waits for the socket, and then for MPI. */
static void go_round(void *unused)
{
	int value = rank, back;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(sennit_write(pair[0], &value, sizeof(value),
				    SENNIT_NEVER) == sizeof(value));
		EXPECT(sennit_read(pair[0], &back, sizeof(back),
				   SENNIT_NEVER) == sizeof(back));
		EXPECT(back == value);
		MPI_Sendrecv_replace(&value, 1, MPI_INT, next_rank(), TAG,
				     last_rank(), TAG, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
	}
	EXPECT(value == ((rank - ROUNDS) % ranks + ranks) % ranks);
}

TEST_IN_JOB(fibers_wait_for_sockets_and_for_messages)
{
	struct errand e[2];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	begin_in(j->s, &e[0], echo, NULL);
	begin_in(j->s, &e[1], go_round, NULL);
	end_errand(&e[0]);
	end_errand(&e[1]);
	close(pair[0]);
	close(pair[1]);
}

/* While a fiber waits for a socket, its worker sleeps in the poller: it gets up
 * to ask MPI. */
static void read_one(void *value)
{
	EXPECT(sennit_read(pair[0], value, sizeof(int), SENNIT_NEVER) ==
	       sizeof(int));
}

static void receive_late(void *unused)
{
	int value = 0;

	(void)unused;
	MPI_Recv(&value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	EXPECT(value == 6);
}

TEST_IN_JOB(a_worker_asleep_in_its_poller_asks_mpi)
{
	struct errand e[2];
	int           value = 6, got = 0;

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	begin_in(j->s, &e[0], read_one, &got);
	begin_in(j->s, &e[1], receive_late, NULL);
	usleep(10000);
	PMPI_Barrier(MPI_COMM_WORLD);
	PMPI_Send(&value, 1, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD);
	end_errand(&e[1]);
	assert_int_equal(write(pair[1], &value, sizeof(value)), sizeof(value));
	end_errand(&e[0]);
	assert_int_equal(got, 6);
	close(pair[0]);
	close(pair[1]);
}

IN_MPI(MPI_THREAD_MULTIPLE);
