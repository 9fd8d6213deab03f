/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-bench-mpi: what MPI calls in fibers cost beside plain MPI, on
 * two processes.
 *
 *	mpirun -n 2 sennit-bench-mpi [ROWS]
 *
 * Measures the rows whose names begin with ROWS; all without. Prints one line
 * for each row: name, value, unit. For the scaling of the tree
 * search see mpi/examples/uts.c.
 */
#include "rows.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20000, WAITING = 1000, MESSAGES = 2000 };

int               rank, other;
sennit_scheduler *scheduler;

static const char *rows = "";

bool wants(const char *name)
{
	return !strncmp(name, rows, strlen(rows));
}

void show(const char *name, double value, const char *unit)
{
	if (!rank)
		printf("%-32s %12.3f %s\n", name, value, unit);
}

double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int run_in_fiber(void *function)
{
	(*(void (**)(void))function)();
	return 0;
}

static void in_fiber(void (*run)(void))
{
	sennit_group g;

	sennit_group_init_on(&g, scheduler, SENNIT_NEVER, 0);
	if (sennit_group_spawn(&g, run_in_fiber, &run) || sennit_group_wait(&g))
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- ping-pong ------------------------------------------------------------ */

/* What MPI's calls in fibers are translated to, without fibers: no layer above
 * MPI that begins an operation and asks for its end can be quicker. */
static void send_asking(const int *value)
{
	MPI_Request request;
	int         done = 0;

	PMPI_Isend(value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
	while (!done)
		PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void receive_asking(int *value)
{
	MPI_Request request;
	int         done = 0;

	PMPI_Irecv(value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
	while (!done)
		PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void send_blocking(const int *value)
{
	MPI_Send(value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

static void receive_blocking(int *value)
{
	MPI_Recv(value, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

static double half_round; /* us */

/* A quarter of the rounds before the measured ones. */
static void ping_pong(void (*send)(const int *), void (*receive)(int *))
{
	double begin = 0;
	int    value = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = -ROUNDS / 4; i < ROUNDS; i++) {
		if (!i)
			begin = seconds(CLOCK_MONOTONIC);
		if (rank == 0)
			send(&value);
		receive(&value);
		if (rank == 1)
			send(&value);
	}
	half_round = 1e6 * (seconds(CLOCK_MONOTONIC) - begin) / ROUNDS / 2;
}

static void ping_pong_plain(void)
{
	ping_pong(send_blocking, receive_blocking);
}

static void ping_pong_asking(void)
{
	ping_pong(send_asking, receive_asking);
}

static void ping_pong_in_fiber(void)
{
	in_fiber(ping_pong_plain);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "ping-pong/plain", ping_pong_plain },
	{ "ping-pong/asking", ping_pong_asking },
	{ "ping-pong/fiber", ping_pong_in_fiber },
};

enum { WAYS = sizeof(ways) / sizeof(*ways), TURNS = 15 };

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* By turns, so that all meet the same other load. The least of each, and the
 * middle of the ratios to plain calls of the same turn. */
static void measure_ping_pong(void)
{
	double took[WAYS][TURNS], ratio[WAYS][TURNS];

	if (!wants("ping-pong"))
		return;
	for (int t = 0; t < TURNS; t++)
		for (int w = 0; w < WAYS; w++) {
			ways[w].run();
			took[w][t] = half_round;
			ratio[w][t] = half_round / took[0][t];
		}
	for (int w = 0; w < WAYS; w++) {
		char name[64];

		qsort(took[w], TURNS, sizeof(double), compare);
		qsort(ratio[w], TURNS, sizeof(double), compare);
		show(ways[w].name, took[w][0], "us");
		snprintf(name, sizeof(name), "%s-ratio", ways[w].name);
		show(name, ratio[w][TURNS / 2], "x plain");
	}
}

/* --- many that wait ------------------------------------------------------- */

/* Process 1 waits for WAITING messages, which process 0 sends one each
 * millisecond, again and again. Process 1 prints the CPU time that it used from
 * the first message on. */
static double counted_cpu, counted_wall;

static void count_from_here(void)
{
	counted_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	counted_wall = seconds(CLOCK_MONOTONIC);
}

static int wait_for_messages(void *number)
{
	int tag = (int)(intptr_t)number;

	for (int i = 0; i < MESSAGES / WAITING; i++) {
		int value;

		MPI_Recv(&value, 1, MPI_INT, other, tag, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (!tag && !i)
			count_from_here();
	}
	return 0;
}

static void *wait_as_thread(void *number)
{
	(void)wait_for_messages(number);
	return NULL;
}

static void wait_in_fibers(void)
{
	sennit_group g;

	sennit_group_init_on(&g, scheduler, SENNIT_NEVER, 0);
	for (int i = 0; i < WAITING; i++)
		if (sennit_group_spawn(&g, wait_for_messages,
				       (void *)(intptr_t)i))
			MPI_Abort(MPI_COMM_WORLD, 1);
	(void)!sennit_group_wait(&g);
}

static void wait_in_threads(void)
{
	static pthread_t thread[WAITING];
	pthread_attr_t   small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, SENNIT_MPI_STACK_SIZE);
	for (int i = 0; i < WAITING; i++)
		if (pthread_create(&thread[i], &small, wait_as_thread,
				   (void *)(intptr_t)i))
			MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < WAITING; i++)
		pthread_join(thread[i], NULL);
}

static void wait_by_testsome(void)
{
	static MPI_Request request[WAITING];
	static int         value[WAITING], index[WAITING];

	for (int i = 0; i < WAITING; i++)
		MPI_Irecv(&value[i], 1, MPI_INT, other, i, MPI_COMM_WORLD,
			  &request[i]);
	for (int got = 0; got < MESSAGES;) {
		int out = 0;

		MPI_Testsome(WAITING, request, &out, index,
			     MPI_STATUSES_IGNORE);
		if (!got && out)
			count_from_here();
		for (int i = 0; i < out; i++)
			if (++got <= MESSAGES - WAITING)
				MPI_Irecv(&value[index[i]], 1, MPI_INT, other,
					  index[i], MPI_COMM_WORLD,
					  &request[index[i]]);
	}
}

static void send_slowly(void)
{
	struct timespec pause = { .tv_nsec = 500000000 };

	nanosleep(&pause, NULL);
	pause.tv_nsec = 1000000;
	for (int i = 0; i < MESSAGES; i++) {
		nanosleep(&pause, NULL);
		MPI_Send(&i, 1, MPI_INT, other, i % WAITING, MPI_COMM_WORLD);
	}
}

static void measure_waiting(const char *name, void (*wait)(void))
{
	double share = 0;

	if (!wants(name))
		return;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		wait();
		share = 100 *
			(seconds(CLOCK_PROCESS_CPUTIME_ID) - counted_cpu) /
			(seconds(CLOCK_MONOTONIC) - counted_wall);
		MPI_Send(&share, 1, MPI_DOUBLE, 0, WAITING, MPI_COMM_WORLD);
	} else {
		send_slowly();
		MPI_Recv(&share, 1, MPI_DOUBLE, 1, WAITING, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	show(name, share, "% of a CPU");
}

int main(int argc, char **argv)
{
	int provided, ranks;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	other = 1 - rank;
	if (ranks != 2 ||
	    sennit_scheduler_create(
		    &scheduler,
		    SENNIT_CONFIG(.workers = 1,
				  .stack_size = SENNIT_MPI_STACK_SIZE)) ||
	    sennit_mpi_start(scheduler, NULL)) {
		fprintf(stderr, "sennit-bench-mpi: needs two processes\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (argc > 1)
		rows = argv[1];
	measure_ping_pong();
	measure_waiting("1000-waiting/fibers", wait_in_fibers);
	measure_waiting("1000-waiting/threads", wait_in_threads);
	measure_waiting("1000-waiting/testsome", wait_by_testsome);
	measure_halos();
	if (sennit_mpi_stop(scheduler, SENNIT_NEVER) ||
	    sennit_scheduler_shutdown(scheduler, SENNIT_NEVER))
		return 1;
	MPI_Finalize();
	return 0;
}
