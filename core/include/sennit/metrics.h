/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - numbers about a scheduler, for monitoring.
 *
 * sennit_metrics_write writes them as text that Prometheus reads: OpenMetrics,
 * or its own, older format. sennit_metrics_visit passes them to the program.
 *
 *	counters     events since the scheduler was created
 *	gauges       current values
 *	histograms   distributions of durations: only while switched on, and
 *	             of a sample
 *
 * What to look at; all names begin with "sennit_":
 *
 *	tasks_total, waits_total, wakes_total
 *		the rate of work. Waits without wakes: fibers pile up. A lock
 *		call of a mutex is one wait, however often it looks at it
 *	fibers, tasks_queued
 *		suspended fibers, and tasks that have not started
 *	steals_total, parks_total
 *		both high, tasks_total low: tasks are too small, or come one
 *		by one
 *	waits_cancelled_total
 *		waits that groups ended
 *	blocking_calls_total, blocking_threads
 *		threads near max_blocking_threads: calls wait for each other
 *	blocking_calls_waiting, blocking_stuck_seconds
 *		calls that wait for a thread, and for how long none of them has
 *		begun: calls that wait for each other are stuck for ever
 *	stacks{state}, stack_bytes
 *		memory of fibers
 *	scheduling_latency_seconds
 *		how long fibers that can continue wait for their worker: long
 *		tasks are in the way. The 99th percentile is
 *		histogram_quantile(0.99,
 *		rate(scheduling_latency_seconds_bucket[1m]))
 *	task_run_seconds
 *		how long tasks run, without their waits
 *	wait_seconds{kind}
 *		for what fibers wait, and how long
 *
 * Numbers of workers have the label worker; "bound" is the sum over bound
 * threads, past ones included.
 *
 * Each worker counts for itself, with plain stores. The call reads the workers
 * one after the other while they run, so each number is exact for its worker at
 * some moment of the call.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_METRICS_H
#define SENNIT_METRICS_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

enum sennit_metric_type {
	SENNIT_METRIC_COUNTER = 0,  /* never falls */
	SENNIT_METRIC_GAUGE = 1,    /* rises and falls */
	SENNIT_METRIC_HISTOGRAM = 2 /* durations */
};

/* The number of buckets of a histogram. */
#define SENNIT_HISTOGRAM_BUCKETS 160

/* Durations, by length. Bucket i counts the durations above the bound of bucket
 * i - 1, up to its own bound: see sennit_histogram_bound. Each power of two has
 * four buckets, so a bound is at most a quarter above the durations that it
 * stands for. */
typedef struct sennit_histogram {
	uint64_t count; /* the sum of the buckets */
	uint64_t sum;   /* of the durations, in nanoseconds; it may include a
			 * duration that is not in the buckets yet, or lack one
			 * that is */
	uint64_t buckets[SENNIT_HISTOGRAM_BUCKETS];
} sennit_histogram;

/* One number, or one histogram. All strings end with 0. */
typedef struct sennit_metric {
	size_t      size;  /* sizeof(sennit_metric) in the library's build */
	const char *name;  /* without the suffix "_total" of counters */
	const char *help;  /* a description, one sentence */
	const char *unit;  /* "seconds", "bytes" or "" */
	uint32_t    type;  /* enum sennit_metric_type */
	const char *label; /* the label that distinguishes metrics of one name,
			    * such as "worker" or "kind"; NULL: there is only
			    * one */
	const char *label_value; /* the label's value, such as "3", "bound" or
				  * "mutex"; NULL: no label */
	uint64_t    value;       /* COUNTER, GAUGE; nanoseconds if the unit is
				  * "seconds" */
	const sennit_histogram *histogram; /* HISTOGRAM, in nanoseconds; else
					    * NULL */
} sennit_metric;

/* A sampling rate for sennit_metrics_record at which recording costs at most 5
 * ns for each task and for each of the two histograms that a wait is in. */
#define SENNIT_METRICS_SAMPLED 32

/* Switch the histograms of *s on or off: how long tasks run, how long fibers
 * wait, and how long fibers that can continue wait for their worker. They are
 * off in a new scheduler. `every` 0 switches them off. A value n records one of
 * n tasks and one of n waits of each worker. SENNIT_METRICS_SAMPLED suits
 * programs that run for long; 1 records all. The count of a histogram is that
 * of its sample. The counters "tasks" and "waits" count all; the gauge
 * "histograms_every" is n. The caller's worker begins at once. Other workers
 * begin when they next look for work, or, if busy, after at most 61 tasks or
 * waits. A task or wait that begins while histograms are off is not recorded.
 * Histograms that are switched off keep their content. A call of fork_join.h
 * that no other worker and no other stack has run is not a task; it is part of
 * the task that syncs it.
 *
 * docs/design/trace-and-metrics.md has the cost of a record. A worker allocates
 * 28 KiB from the scheduler's allocator when it first records. If that fails,
 * it records nothing and tries again later; the gauge "workers_unmeasured"
 * counts such workers.
 *
 * From: fiber, thread.  Blocks: no (the first call of a process measures the
 * processor's counter of time: up to a millisecond).  */
SENNIT_API void sennit_metrics_record(sennit_scheduler *s, uint32_t every);

/* Call visit(context, metric) for each metric of *s. Metrics of one name come
 * one after the other. *metric and its strings are valid until visit returns.
 * visit may block and may call into sennit.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_metrics_visit(sennit_scheduler *s,
				     void (*visit)(void                *context,
						   const sennit_metric *metric),
				     void *context);

/* How metrics are written. */
enum sennit_metrics_format {
	SENNIT_METRICS_OPENMETRICS = 0, /* OpenMetrics 1.0, which ends with the
					 * line "# EOF". Serve it as
					 * application/openmetrics-text;
					 * version=1.0.0 */
	SENNIT_METRICS_PROMETHEUS = 1   /* the text format of Prometheus. Serve
					 * it as text/plain; version=0.0.4 */
};

/* Write all metrics to the file descriptor in the given format, one of enum
 * sennit_metrics_format. Every line has
 * the label `scheduler` with the name of the scheduler. Both formats have the
 * same names and numbers. The texts of several schedulers must not be
 * concatenated. The call allocates nothing. If fd is nonblocking and full, the
 * text is cut and the call returns -EAGAIN. Returns 0, -EINVAL if there is no
 * such format, or a negative errno value of write(). Some of the text may then
 * have been written.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API SENNIT_MUST_USE int sennit_metrics_write(sennit_scheduler *s, int fd,
						    uint32_t format);

/* Return the longest duration that bucket number `bucket` counts, in
 * nanoseconds. UINT64_MAX for the last bucket, and for numbers beyond it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint64_t sennit_histogram_bound(uint32_t bucket);

/* Return a duration in nanoseconds that `part` of all durations do not exceed,
 * 0.5 for the median: the bound of a bucket. 0 if the histogram is empty. part
 * below 0 counts as 0, and above 1 as 1.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint64_t sennit_histogram_quantile(const sennit_histogram *h,
					      double                  part);

SENNIT_END

#endif
