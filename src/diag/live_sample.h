/* SPDX-License-Identifier: Apache-2.0 */
/* live_sample.h - what a scheduler has done lately, from repeated looks.
 *
 * A look walks a report and the counters of the workers. Rates are over the
 * last period of about a second; which tasks run is an average over the last
 * LIVE_LOOKS looks. Only the view's thread uses this.
 */
#ifndef SN_LIVE_SAMPLE_H
#define SN_LIVE_SAMPLE_H

#include "diag/live_latency.h"

#include "sennit/report.h"
#include "sennit/workers.h"

#include <stdbool.h>

/* Bounds of a snapshot. */
#define LIVE_WORKERS 256 /* workers and bound threads */
#define LIVE_TASKS   128 /* kinds of tasks */
#define LIVE_WAITERS 16
#define LIVE_NAME    32 /* bytes of a scheduler's name */

/* Looks that the average over running tasks spans: 1.6 s at 20 per second. */
#define LIVE_LOOKS 32

/* The first period is over after this time, the others last PERIOD. */
#define LIVE_WARM   (250 * SENNIT_MILLISECOND)
#define LIVE_PERIOD (1000 * SENNIT_MILLISECOND)

/* `average` of a task that one worker runs all the time. */
#define LIVE_ONE UINT64_C(1000000)

/* A kind of task: a function, and the name that tasks or the function have. */
struct live_task {
	sennit_task_fn *run;
	char            name[SENNIT_NAME_SIZE]; /* "": none */
	uint64_t        running; /* of the current look: workers that run it */
	uint64_t        average; /* in parts of LIVE_ONE */
};

struct live_waiter {
	sennit_report_entry entry; /* its name is `name` */
	char                name[SENNIT_NAME_SIZE];
};

struct live_worker {
	sennit_worker_view now;
	sennit_worker_view mark; /* at the begin of the period; its thread is
				   * that of `now`, or there is no mark */
	uint32_t           busy; /* of the last period, in thousandths */
	uint64_t           tasks_per_s; /* of the last period */
};

struct live_sample {
	sennit_scheduler *of;   /* no reference; NULL: unused */
	uint64_t          look; /* serial number of the last look */
	char              name[LIVE_NAME];

	/* Of the last look. */
	sennit_stats       stats;
	uint64_t           running, ready, blocked, queued;
	struct live_waiter waiters[LIVE_WAITERS]; /* the longest ones */
	uint32_t           waiter_count;
	struct live_worker workers[LIVE_WORKERS];
	uint32_t           worker_count;
	uint32_t           workers_left_out;

	/* Over looks. */
	struct live_task tasks[LIVE_TASKS];
	uint32_t         task_count;
	uint64_t         looks;

	/* Over periods. */
	sennit_time           period; /* when it began; 0: no look yet */
	bool                  warm;   /* one has ended */
	sennit_stats          mark;   /* when it began */
	struct live_latencies latencies;
	uint64_t tasks_per_s, steals_per_s, blocks_per_s, parks_per_s;
};

/* Forget all looks, at `of` from now on. */
void sn_live_sample_reset(struct live_sample *m, sennit_scheduler *of);

/* Look at m->of, to which the caller has a reference. */
void sn_live_sample_look(struct live_sample *m);

/* Fill order[] with the indices of the tasks that ran most, most first. Returns
 * their number, at most `size`. */
uint32_t sn_live_sample_hottest(const struct live_sample *m, uint32_t order[],
				uint32_t size);

#endif
