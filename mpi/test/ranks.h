/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - a test that runs in each process of an MPI program (run.sh starts
 * one to four): MPI, and a scheduler whose fibers may wait in it.
 *
 * All processes run the same tests in the same order. One whose test has failed
 * ends the program, so that the others do not wait for it.
 */
#ifndef SN_TEST_RANKS_H
#define SN_TEST_RANKS_H

#include "testing/with_workers.h"

#include "sennit/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sennit/mpi.h>
#include <sys/mman.h>

static int rank, ranks;

struct job {
	sennit_scheduler *s;
	uint32_t          workers;
};

/* What processes tell each other without MPI, so that the telling moves nothing
 * in MPI: a counter for each, in a file of rank 0. */
static atomic_int *told;

static inline void share_memory(void)
{
	char name[] = "/tmp/sennit-mpi-XXXXXX";
	int  fd = rank ? -1 : mkstemp(name);

	if (!rank && ftruncate(fd, 4096))
		abort();
	PMPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank)
		fd = open(name, O_RDWR);
	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (told == MAP_FAILED)
		abort();
	close(fd);
	PMPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		unlink(name);
}

static inline int next_rank(void)
{
	return (rank + 1) % ranks;
}

static inline int last_rank(void)
{
	return (rank + ranks - 1) % ranks;
}

static inline sennit_scheduler *start_mpi_scheduler(uint32_t workers)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = workers,
					 .stack_size = SENNIT_MPI_STACK_SIZE));

	assert_int_equal(sennit_mpi_start(s, NULL), 0);
	return s;
}

static inline int open_job(void **state)
{
	struct job *j = *state;

	alarm(400);
	j->s = start_mpi_scheduler(j->workers);
	return 0;
}

static inline int close_job(void **state)
{
	struct job *j = *state;

	assert_int_equal(sennit_mpi_stop(j->s, sennit_after(GIVE_UP)), 0);
	end_scheduler(j->s);
	alarm(0);
	if (!atomic_load(&broken_claims))
		return 0;
	fflush(stdout);
	return MPI_Abort(MPI_COMM_WORLD, 1);
}

#define IN_JOB(f, n)                                                     \
	{                                                                \
#f "_w" #n, f##_case, open_job, close_job, &(struct job) \
		{                                                        \
			.workers = (n)                                   \
		}                                                        \
	}

/* f with a scheduler of one and of two workers. */
#define TEST_IN_JOB(f) \
	TEST_ENTRIES(f, struct job *j, IN_JOB(f, 1), IN_JOB(f, 2))

static inline void count_waiting(void *count, const sennit_report_entry *e)
{
	*(unsigned *)count += e->state == SENNIT_REPORT_BLOCKED &&
			      e->waits_for == SENNIT_WAITS_FOR_EVENT;
}

/* The number of fibers of *s that wait for a message. One that still asks MPI
 * itself yields, and is not among them. */
static inline unsigned waits_of(sennit_scheduler *s)
{
	unsigned count = 0;

	sennit_report_visit(s, count_waiting, &count);
	return count;
}

/* Runs run(argument) as a task: of *s, or beside the caller on its worker. */
static inline void begin_in(sennit_scheduler *s, struct errand *e,
			    sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run_errand, .argument = e };

	e->run = run;
	e->argument = argument;
	sennit_wait_group_init(&e->done, 1);
	EXPECT(sennit_schedule_task_on(s, &t) == 0);
}

static inline void begin_beside(struct errand *e, sennit_task_fn *run,
				void *argument)
{
	e->run = run;
	e->argument = argument;
	sennit_wait_group_init(&e->done, 1);
	must_schedule_here(run_errand, e);
}

static inline void end_errand(struct errand *e)
{
	sennit_wait_group_wait(&e->done);
}

static inline void in_task_of(sennit_scheduler *s, sennit_task_fn *run,
			      void *argument)
{
	struct errand e;

	begin_in(s, &e, run, argument);
	end_errand(&e);
}

static inline int start_ranks(int level)
{
	int provided;

	MPI_Init_thread(NULL, NULL, level, &provided);
	if (provided != level) {
		printf("skipped: MPI gives level %d, not %d\n", provided,
		       level);
		MPI_Finalize();
		return 77;
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	return 0;
}

static inline int end_ranks(int failed)
{
	fflush(stdout);
	if (failed || atomic_load(&broken_claims))
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Finalize();
	return 0;
}

/* The tests of this file run in MPI. */
#define IN_MPI(level)                      \
	static int start_mpi(void)         \
	{                                  \
		return start_ranks(level); \
	}                                  \
	BEFORE_ALL(start_mpi);             \
	AFTER_ALL(end_ranks)

#endif
