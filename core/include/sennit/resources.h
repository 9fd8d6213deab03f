/* SPDX-License-Identifier: Apache-2.0 */
/* resources.h - a budget of CPUs that several schedulers of a process share.
 *
 * Schedulers that are created with the same resources (sennit_config.resources)
 * share a budget of CPUs. Together they never have more active workers than the
 * budget has CPUs. A worker is active while it runs tasks or searches for
 * tasks. A scheduler may have any number of threads. The threads beyond the
 * budget sleep until an active worker has nothing to do, or is asked to give up
 * its CPU.
 *
 *	sennit_resources *r;
 *	sennit_scheduler *a, *b;
 *
 *	err = sennit_resources_create(&r, 0, NULL);
 *	...
 *	err = sennit_scheduler_create(
 *		&a, SENNIT_CONFIG(.resources = r, .resources_priority = 3));
 *	err = sennit_scheduler_create(
 *		&b, SENNIT_CONFIG(.resources = r, .resources_min = 1));
 *	sennit_resources_release(r);
 *
 * CPUs are distributed by these rules:
 *
 *   - If the other schedulers have nothing to do, a scheduler gets all CPUs, up
 *     to its maximum.
 *   - A scheduler that has fewer active workers than its minimum, and wants
 *     more, comes first. It gets a CPU at the next safe point of any worker of
 *     a scheduler that has more than its own minimum.
 *   - Beyond the minimums each scheduler gets time in proportion to its
 *     priority, as far as it wants it. A worker keeps its CPU for some 1 ms
 *     before it is asked, and gives it up at its next safe point. Within a
 *     scheduler, workers that wait are served first come, first served.
 *
 * A worker reaches a safe point when it has nothing to do, and each 61st time
 * that it starts a task or resumes a fiber. Nothing is interrupted: a task that
 * runs for long without waiting, or sleeps in the system, keeps its CPU for
 * that time (use blocking.h for the latter). If the minimums add up to all
 * CPUs, a scheduler without a minimum gets nothing as long as the others use
 * all of theirs.
 *
 * The budget, and the minimum, maximum and priority of each scheduler, may be
 * changed at any time (sennit_resources_set_cpus, sennit_resources_set_share).
 *
 * Fibers stay on their threads. The budget does not count bound threads,
 * threads for blocking calls, threads of the program, and the time in which a
 * worker falls asleep, wakes up, starts or ends. A fiber that waits for the end
 * of another scheduler (sennit_scheduler_shutdown) lends its CPU meanwhile.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_RESOURCES_H
#define SENNIT_RESOURCES_H

#include "sennit/base.h"

SENNIT_BEGIN

typedef struct sennit_resources sennit_resources;
struct sennit_scheduler;

/* The largest sennit_config.resources_priority. */
#define SENNIT_RESOURCES_PRIORITY_MAX 1024

/* Create a budget of `cpus` CPUs and store it in *out. cpus = 0 means
 * sennit_cpu_count(). The caller owns one reference. Each scheduler that takes
 * part holds one until it has ended. The object is of no use in the child of a
 * fork.
 * Returns 0, -EINVAL for more than 1024 CPUs or an allocator that lacks a
 * function, -ENOMEM, or -EAGAIN as sennit_scheduler_create does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_resources_create(
	sennit_resources **out, uint32_t cpus,
	const sennit_allocator *allocator);

/* Take one more reference. The caller must hold one. Returns r.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_resources *sennit_resources_retain(sennit_resources *r);

/* Release one reference. The last release frees the memory.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_resources_release(sennit_resources *r);

/* --- changes -------------------------------------------------------------- */

/* Change the budget to `cpus` CPUs; 0 means sennit_cpu_count(). A larger one is
 * used at once. A smaller one is reached as workers come to safe points: until
 * then more are active.
 * Returns 0, -EINVAL for more than 1024 CPUs, or -EAGAIN if the minimums of the
 * schedulers that take part exceed the new budget. On error nothing is changed.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_resources_set_cpus(sennit_resources *r,
							 uint32_t cpus);

/* What a scheduler may have of its resources. */
typedef struct sennit_resources_share {
	size_t   size;      /* sizeof(sennit_resources_share) in the caller's
			    * build */
	uint32_t min;       /* CPUs that it gets first; 0: none */
	uint32_t max;       /* CPUs that it never exceeds; 0: max_workers of its
			    * configuration */
	uint32_t priority;  /* up to SENNIT_RESOURCES_PRIORITY_MAX; 0 means 1 */
	uint32_t reserved_; /* must be 0 */
} sennit_resources_share;

#define SENNIT_RESOURCES_SHARE(...)              \
	SENNIT_CONSTANT_(sennit_resources_share, \
			 .size = sizeof(sennit_resources_share), __VA_ARGS__)

/* Change the share of *s: resources_min, resources_max and resources_priority
 * of its configuration. Time that it has had is counted by its former priority.
 * A CPU beyond a smaller maximum is given up at the next safe point of its
 * worker.
 * Returns 0, -EINVAL if *s takes part in no resources, if the minimum exceeds
 * the maximum or max_workers, if the priority is too large or reserved_ is not
 * 0, -E2BIG as sennit_scheduler_create does, -EAGAIN if the minimums of all
 * schedulers would exceed the budget, or -ESHUTDOWN as sennit_schedule_task_on
 * does. On error nothing is changed.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_resources_set_share(
	struct sennit_scheduler *s, const sennit_resources_share *share);

/* --- what it does --------------------------------------------------------- */

/* The result of sennit_resources_get_stats. All fields are from one moment. */
typedef struct sennit_resources_stats {
	size_t   size;        /* sizeof(sennit_resources_stats) in the caller's
			       * build */
	uint32_t cpus;        /* the budget */
	uint32_t schedulers;  /* schedulers that take part */
	uint32_t promised;    /* sum of their minimums */
	uint32_t active;      /* active workers */
	uint32_t active_peak; /* largest number of active workers so far */
	uint32_t waiting;     /* workers that have work and no CPU */
	uint64_t yields;      /* times a worker with work gave its CPU to
			       * another worker */
} sennit_resources_stats;

/* Fill *stats. The caller sets its size field before. It is misuse if the size
 * is smaller than that of the first release.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_resources_get_stats(sennit_resources       *r,
					   sennit_resources_stats *stats);

SENNIT_END

#endif
