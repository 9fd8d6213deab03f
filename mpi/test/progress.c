/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - MPI is polled while workers are in long tasks, and while they
 * are busy with short ones, and not when nothing is outstanding. Where polls
 * are slow, one serves all. */
#include "ranks.h"

#include "../src/suspend.h"

#include <dirent.h>

#define TAG 21

/* --- long tasks ----------------------------------------------------------- */

/* More than MPI sends before the receiver agrees. */
enum { LARGE = 1 << 20 };

static int out[LARGE], in[LARGE];

static void send_large(void *unused)
{
	(void)unused;
	MPI_Send(out, LARGE, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD);
	atomic_store(&told[next_rank()], 1);
}

/* The only worker, which has a fiber that waits, does not come back before the
 * message is there. (A process that sends to itself needs no progress.) */
static void compute(void *unused)
{
	const sennit_time end = sennit_after(GIVE_UP);

	(void)unused;
	while (!atomic_load(&told[rank]) && sennit_now() < end)
		;
	EXPECT(atomic_load(&told[rank]));
}

static void receive_large(void *unused)
{
	(void)unused;
	MPI_Recv(in, LARGE, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	for (int i = 0; i < LARGE; i += 1000)
		EXPECT(in[i] == last_rank() + i);
}

TEST_IN_JOB(messages_move_while_all_workers_compute)
{
	sennit_scheduler *sender = start_mpi_scheduler(1);
	struct errand     e[3];

	for (int i = 0; i < LARGE; i++)
		out[i] = rank + i;
	if (!told)
		share_memory();
	atomic_store(&told[rank], 0);
	begin_in(j->s, &e[0], receive_large, NULL);
	EXPECT_SOON(waits_of(j->s) == 1); /* or a task would run before it */
	PMPI_Barrier(MPI_COMM_WORLD);
	for (uint32_t i = 0; i < j->workers; i++)
		begin_in(j->s, &e[1 + i], compute, NULL);
	in_task_of(sender, send_large, NULL);
	for (uint32_t i = 0; i <= j->workers; i++)
		end_errand(&e[i]);
	assert_int_equal(sennit_mpi_stop(sender, SENNIT_NEVER), 0);
	end_scheduler(sender);
}

/* --- short tasks ---------------------------------------------------------- */

static atomic_bool over;

static void be_busy(void *unused)
{
	(void)unused;
	while (!atomic_load(&over))
		sennit_yield();
}

static void receive_then_end(void *unused)
{
	int value;

	(void)unused;
	MPI_Recv(&value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	atomic_store(&over, true);
}

TEST_IN_JOB(busy_workers_ask_between_fibers)
{
	struct errand e[4];
	int           value = 0;

	atomic_store(&over, false);
	begin_in(j->s, &e[0], receive_then_end, NULL);
	for (int i = 1; i < 4; i++)
		begin_in(j->s, &e[i], be_busy, NULL);
	PMPI_Send(&value, 1, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD);
	for (int i = 0; i < 4; i++)
		end_errand(&e[i]);
}

/* --- nothing outstanding -------------------------------------------------- */

/* How often threads of this process whose name begins so went to sleep. */
static long sleeps_of(const char *name)
{
	DIR           *tasks = opendir("/proc/self/task");
	struct dirent *d;
	long           sum = 0;

	while (tasks && (d = readdir(tasks))) {
		char  path[300], line[200];
		long  n;
		bool  ours = false;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 d->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			if (!strncmp(line, "Name:\t", 6))
				ours = !strncmp(line + 6, name, strlen(name));
			if (ours && !strncmp(line, "State:\tR", 8))
				sum += (long)(sennit_now() %
					      1000000); /* it changes */
			if (ours && sscanf(line, "voluntary_ctxt_switches: %ld",
					   &n) == 1)
				sum += n;
		}
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

/* Threads that sleep for 50 ms without waking have nothing that wakes them. */
static bool is_quiet(void)
{
	long before = sleeps_of("sennit");

	usleep(50000);
	return sleeps_of("sennit") == before;
}

static void pass_round(void *unused)
{
	int value = rank;

	(void)unused;
	for (int i = 0; i < 20; i++)
		MPI_Sendrecv_replace(&value, 1, MPI_INT, next_rank(), TAG,
				     last_rank(), TAG, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
}

TEST_IN_JOB(nobody_asks_when_nothing_is_outstanding)
{
	in_task_of(j->s, pass_round, NULL);
	assert_true(sleeps_of("sennit") > 0);
	assert_soon(is_quiet());
	in_task_of(j->s, pass_round, NULL);
	assert_soon(is_quiet());
}

/* --- slow questions ------------------------------------------------------- */

/* A poll that yields the CPU, as Open MPI's do when they find nothing. */
static void ask_slowly(void)
{
	usleep(2000);
}

/* So many that some are asked when the eager time is over. */
enum { TO_BE_SLOW = 8, CROWD = 16 };

static int          asked, started, begun, in_vain;
static sennit_event go;

static bool has_been_asked_often(struct mpi_polled *unused)
{
	(void)unused;
	ask_slowly();
	return ++asked == TO_BE_SLOW;
}

static bool have_all_begun(struct mpi_polled *unused)
{
	(void)unused;
	if (begun == CROWD)
		return true;
	ask_slowly();
	in_vain++;
	return false;
}

static void begin_and_wait(void *unused)
{
	struct mpi_polled p = { .test = have_all_begun };

	(void)unused;
	started++;
	EXPECT(!sennit_event_wait(&go));
	begun++;
	EXPECT(!sn_mpi_wait_polled(sn_mpi_lane_here(), &p, SENNIT_UNCANCELLED));
}

static void be_slow_and_crowded(void *unused)
{
	struct mpi_polled p = { .test = has_been_asked_often };
	struct errand     e[CROWD];

	(void)unused;
	EXPECT(!sn_mpi_wait_polled(sn_mpi_lane_here(), &p, SENNIT_UNCANCELLED));
	for (int i = 0; i < CROWD; i++)
		begin_beside(&e[i], begin_and_wait, NULL);
	while (started < CROWD)
		sennit_yield();
	sennit_event_set(&go);
	for (int i = 0; i < CROWD; i++)
		end_errand(&e[i]);
}

/* What one fiber waits for may be what another one is about to begin, here or,
 * for its message, in another process. So MPI is not polled before all have
 * begun. */
TEST_ENTRIES(fibers_begin_before_the_first_slow_question, struct job *j,
	     IN_JOB(fibers_begin_before_the_first_slow_question, 1))
{
	asked = started = begun = in_vain = 0;
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	in_task_of(j->s, be_slow_and_crowded, NULL);
	assert_int_equal(begun, CROWD);
	assert_int_equal(in_vain, 0);
}

IN_MPI(MPI_THREAD_MULTIPLE);
