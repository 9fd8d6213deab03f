/* SPDX-License-Identifier: Apache-2.0 */
/* harness.h - the interface between benchmarks and the harness.
 *
 * Each file with benchmarks defines an array of rows. Each row runs in a
 * process of its own, once to warm up and BENCH_RUNS times for the result. So
 * memory and threads of one row do not affect the next, and a row that hangs is
 * killed.
 */
#ifndef SN_BENCH_HARNESS_H
#define SN_BENCH_HARNESS_H

#include "sennit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

SENNIT_BEGIN

#define BENCH_RUNS   5
#define BENCH_VALUES 4

/* For functions and arrays that a row shares with the peers: never inlined, and
 * aligned in the same way. Otherwise the time of a row that mostly computes
 * depends on the code around it and on the addresses of the arrays, by up to
 * 14 % in R1. */
#define BENCH_WORK static __attribute__((noinline, aligned(64)))
#define BENCH_DATA static __attribute__((aligned(4096)))

/* What compiled the file. */
#ifdef __clang__
#define BENCH_COMPILER "clang " __clang_version__
#else
#define BENCH_COMPILER "gcc " __VERSION__
#endif

/* One run of a row. */
struct bench_run {
	uint32_t workers;
	uint32_t fp;                  /* see sennit_config.fp */
	uint64_t n;                   /* operations in a run */
	double   value[BENCH_VALUES]; /* out: ns per operation; NAN prints
				       * "-" */
	double   bytes;               /* out; 0: the harness uses the peak
				       * resident size of the process */
};

typedef void bench_fn(struct bench_run *r);

enum bench_workers {
	BENCH_NONE,     /* without a scheduler, for reference */
	BENCH_EACH,     /* 1, 2, 4, 8 and 16, up to the number of CPUs */
	BENCH_FROM_TWO, /* the same without 1 */
	BENCH_ONE,      /* always 1 */
	BENCH_TWO,      /* always 2 */
	BENCH_COUNTS    /* none, where that can be, 1, 2 and 8: for counts, not
			 * for times */
};

/* Where a row runs. */
enum bench_place {
	BENCH_OUTSIDE, /* on the main thread, which is not bound */
	BENCH_INSIDE   /* all runs in one task of one scheduler */
};

struct bench_row {
	const char *names[BENCH_VALUES + 1]; /* "workload/variant", one per
					      * value of a run */
	uint64_t    n;
	enum bench_workers workers;
	enum bench_place   place;
	bench_fn          *run;
	uint32_t           fp;     /* for the scheduler of BENCH_INSIDE */
	uint64_t           memory; /* free bytes that the row needs; with less
				    * it is skipped */
};

/* Limits for the processes of all rows. The program sets them first. */
struct bench_limits {
	uint32_t seconds;   /* time after which a process is killed */
	uint32_t workers;   /* upper limit for BENCH_EACH and BENCH_FROM_TWO */
	uint32_t exactly;   /* exactly this number of workers, whatever the
			     * number of CPUs; 0: no */
	uint32_t placement; /* see sennit_config.placement */
	uint32_t affinity;  /* see sennit_config.affinity */
};

extern struct bench_limits bench_limits;

/* An array of rows ends with one without a run function. main.c lists the
 * arrays. */
extern const struct bench_row bench_spawn_flat[];
extern const struct bench_row bench_fib[];
extern const struct bench_row bench_skynet[];
extern const struct bench_row bench_ping_pong[];
extern const struct bench_row bench_ring[];
extern const struct bench_row bench_block_many[];
extern const struct bench_row bench_mutex_contended[];
extern const struct bench_row bench_channel[];
extern const struct bench_row bench_sleepers[];
extern const struct bench_row bench_unbalanced_tree[];
extern const struct bench_row bench_nqueens[];
extern const struct bench_row bench_parallel_for[];
extern const struct bench_row bench_parallel_reduce[];
extern const struct bench_row bench_parallel_sort[];
extern const struct bench_row bench_foreign_submit[];
extern const struct bench_row bench_idle_cpu[];
extern const struct bench_row bench_timeouts[];
extern const struct bench_row bench_timer_wheel[];
extern const struct bench_row bench_life_cycle[];
extern const struct bench_row bench_gate[];
extern const struct bench_row bench_local[];
extern const struct bench_row bench_priority[];
extern const struct bench_row bench_group[];
extern const struct bench_row bench_dag[];
extern const struct bench_row bench_event[];
extern const struct bench_row bench_cond[];
extern const struct bench_row bench_wait_group[];
extern const struct bench_row bench_rwlock[];
extern const struct bench_row bench_semaphore[];
extern const struct bench_row bench_barrier[];
extern const struct bench_row bench_once[];
extern const struct bench_row bench_ticket[];
extern const struct bench_row bench_pool[];
extern const struct bench_row bench_future[];
extern const struct bench_row bench_blocking[];
extern const struct bench_row bench_marl[];       /* in sennit-bench-marl */
extern const struct bench_row bench_marl_bound[]; /* the same */
extern const struct bench_row bench_sharing[];
extern const struct bench_row bench_resources[];
extern const struct bench_row bench_kernel[];
extern const struct bench_row bench_memory[];

/* core/bench/apps */
extern const struct bench_row bench_fft[];
extern const struct bench_row bench_ray[];
extern const struct bench_row bench_merge[];
extern const struct bench_row bench_b_tree[];
extern const struct bench_row bench_cholesky[];
extern const struct bench_row bench_simulation[];

/* Run a row in a process of its own for each number of workers. Print the lines
 * whose names start with one of the prefixes (none: all). Returns the number of
 * processes that failed. */
int bench_run_row(const struct bench_row *row, char *const prefixes[]);

/* Take options and their numbers from the front of argv;
 * core/docs/design/measurements.md describes them. Returns the number of
 * arguments taken, or -1 if they are invalid. */
int bench_take_options(int argc, char **argv);

/* Print the names of a row that start with one of the prefixes, and its n. */
void bench_list_row(const struct bench_row *row, char *const prefixes[]);

/* --- for the rows ------------------------------------------------------- */

/* Unless ok, end the process with a message, because a time for a wrong result
 * is worthless. */
void bench_check(bool ok, const char *what);

/* Set value[0] to the time since `begin` per operation. */
void bench_elapsed(struct bench_run *r, sennit_time begin);

/* Run run(r) in a task of a new scheduler, and end the scheduler. */
void bench_inside(bench_fn *run, struct bench_run *r);

/* The scheduler of this process for outside rows. The first call creates it. */
sennit_scheduler *bench_scheduler(uint32_t workers);

/* Sort the values. Returns the smallest value that at least `percent` of them
 * do not exceed. */
double bench_percentile(uint64_t *values, size_t count, unsigned percent);

/* Resident bytes of this process, including page tables. */
uint64_t bench_resident(void);

/* CPU time of all threads of this process. */
uint64_t bench_cpu_ns(void);

/* Run run(argument) in `fibers` tasks at once. Set value[0] to the time per
 * operation until all have ended. */
void bench_crowd(struct bench_run *r, unsigned fibers, sennit_task_fn *run,
		 void *argument);

/* Let n tasks call wait(argument), and call release(argument) when all of them
 * wait. Set value[0] to the time per task from then until all have returned. */
void bench_release(struct bench_run *r, sennit_task_fn *wait,
		   sennit_task_fn *release, void *argument);

/* Run turns(0, n / 2) and turns(1, n / 2) on two workers. Set value[0] to the
 * time per operation. */
typedef void bench_turns_fn(unsigned side, uint64_t turns);
void         bench_pair(struct bench_run *r, bench_turns_fn *turns);

/* In a task: compute fib(n) with one task for each call with n >= 2. */
void bench_fork_join(unsigned n);

/* Let the main thread sleep. */
void bench_pause(uint64_t nanoseconds);

SENNIT_END

#ifndef __cplusplus

/* A row with the usual settings. */
#define BENCH_ROW(name, count, which, function)                      \
	{                                                            \
		.names = { name }, .n = (count), .workers = (which), \
		.place = BENCH_INSIDE, .run = (function)             \
	}

/* Schedule run(argument) on the bound scheduler, or end the process. */
static inline void spawn(sennit_task_fn *run, void *argument)
{
	if (sennit_schedule(run, argument))
		abort();
}

/* The same, tied to the wait group. */
static inline void spawn_tied(sennit_wait_group *g, sennit_task_fn *run,
			      void *argument)
{
	if (sennit_wait_group_spawn(g, run, argument))
		abort();
}

/* The same, on this worker only. */
static inline void spawn_here(sennit_task_fn *run, void *argument)
{
	const sennit_task task = { .run = run,
				   .argument = argument,
				   .flags = SENNIT_TASK_SAME_THREAD };

	if (sennit_schedule_task(&task))
		abort();
}

#endif

#endif
