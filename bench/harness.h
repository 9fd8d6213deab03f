/* SPDX-License-Identifier: Apache-2.0 */
/* harness.h - what a benchmark tells the harness, and what it gets from it.
 *
 * A file of bench/ offers one array of rows. Each row runs in a process of its
 * own, once to warm up and BENCH_RUNS times for the record: neither memory nor
 * threads of one row disturb the next, and a row that hangs is killed.
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

/* One run of a row. */
struct bench_run {
	uint32_t workers;
	uint32_t fp;                  /* as sennit_config.fp */
	uint64_t n;                   /* operations in a run */
	double   value[BENCH_VALUES]; /* out: per operation; NAN prints "-" */
	double   bytes;               /* out; 0: the harness puts the peak
				       * resident size of the process */
};

typedef void bench_fn(struct bench_run *r);

enum bench_workers {
	BENCH_NONE,     /* no scheduler: a reference */
	BENCH_EACH,     /* 1, 2, 4, 8 and 16, as far as there are CPUs */
	BENCH_FROM_TWO, /* the same without 1 */
	BENCH_ONE,      /* 1, as there are no more */
	BENCH_TWO,      /* 2, whatever there is */
	BENCH_COUNTS    /* none, where that can be, 1, 2 and 8, whatever there
			 * is: for counts, not for times */
};

/* Where the runs of a row happen. */
enum bench_place {
	BENCH_OUTSIDE, /* on the main thread, bound to nothing */
	BENCH_INSIDE   /* all of them in one task of one scheduler */
};

struct bench_row {
	const char *names[BENCH_VALUES + 1]; /* "workload/variant", one for
					      * each value of a run */
	uint64_t    n;
	enum bench_workers workers;
	enum bench_place   place;
	bench_fn          *run;
	uint32_t           fp;     /* of BENCH_INSIDE's scheduler */
	uint64_t           memory; /* bytes free, or the row is skipped */
};

/* What holds for the processes of all rows; the program sets it first. */
struct bench_limits {
	uint32_t seconds;   /* after which a process is killed */
	uint32_t workers;   /* BENCH_EACH and BENCH_FROM_TWO end here */
	uint32_t exactly;   /* or have so many, CPUs or not; 0: no */
	uint32_t placement; /* as sennit_config.placement */
};

extern struct bench_limits bench_limits;

/* Rows end with one that has no run. The arrays are listed in main.c. */
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
extern const struct bench_row bench_marl[]; /* of sennit-bench-marl */
extern const struct bench_row bench_sharing[];
extern const struct bench_row bench_kernel[];
extern const struct bench_row bench_memory[];

/* Run a row in a process of its own for each number of workers, and print the
 * lines whose name starts with one of the prefixes (none: all). Returns how
 * many processes failed. */
int bench_run_row(const struct bench_row *row, char *const prefixes[]);

/* Take options and their numbers from the front of argv: docs/measuring.md has
 * them. Returns how many arguments that were, or -1 when they made no sense. */
int bench_take_options(int argc, char **argv);

/* Print the names of a row that start with one of the prefixes, and its n. */
void bench_list_row(const struct bench_row *row, char *const prefixes[]);

/* --- for the rows ------------------------------------------------------- */

/* End the process with a message unless ok: a figure for a wrong answer is
 * worth nothing. */
void bench_check(bool ok, const char *what);

/* Set value[0] to the time since `begin` per operation. */
void bench_elapsed(struct bench_run *r, sennit_time begin);

/* Run run(r) in a task of a scheduler made for it, and end the scheduler. */
void bench_inside(bench_fn *run, struct bench_run *r);

/* This process's scheduler for rows outside; made by the first call. */
sennit_scheduler *bench_scheduler(uint32_t workers);

/* Sort the values and return the one that `percent` of them do not exceed. */
double bench_percentile(uint64_t *values, size_t count, unsigned percent);

/* Resident bytes of this process, page tables included. */
uint64_t bench_resident(void);

/* CPU time of this process, all threads together. */
uint64_t bench_cpu_ns(void);

/* Run run(argument) in so many tasks at once, and set value[0] to the time per
 * operation until all have ended. */
void bench_crowd(struct bench_run *r, unsigned fibers, sennit_task_fn *run,
		 void *argument);

/* Have n tasks call wait(argument), and set value[0] to the time per task from
 * release(argument), called when all have come to that, until all have
 * returned. */
void bench_release(struct bench_run *r, sennit_task_fn *wait,
		   sennit_task_fn *release, void *argument);

/* Run play(0, n / 2) and play(1, n / 2) on two workers, and set value[0] to the
 * time per operation. */
typedef void bench_turns_fn(unsigned side, uint64_t turns);
void         bench_pair(struct bench_run *r, bench_turns_fn *turns);

/* Let the main thread sleep. */
void bench_pause(uint64_t nanoseconds);

SENNIT_END

#ifndef __cplusplus

/* A row of the usual kind. */
#define BENCH_ROW(name, count, who, function)                      \
	{                                                          \
		.names = { name }, .n = (count), .workers = (who), \
		.place = BENCH_INSIDE, .run = (function)           \
	}

/* Schedule run(argument) on the bound scheduler, or end the process. */
static inline void spawn(sennit_task_fn *run, void *argument)
{
	if (sennit_schedule(run, argument))
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
