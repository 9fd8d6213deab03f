/* SPDX-License-Identifier: Apache-2.0 */
/* resources.h - several schedulers that share the CPUs of a process.
 *
 * Schedulers that are created with the same resources (sennit_config.resources)
 * share a budget of CPUs. Together they never have more than so many active
 * workers: workers that run tasks or search for some. Each may have as many
 * threads as it likes; those beyond the budget sleep until one that is active
 * has nothing to do, or is asked to let it have its turn.
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
 * Who gets a CPU:
 *
 *   - a scheduler whose others have nothing to do gets all, up to its maximum;
 *   - one that has fewer active workers than its minimum, and wants more, comes
 *     first. It gets a CPU at the next safe point of any worker of a scheduler
 *     that has more than its own minimum;
 *   - beyond that each gets time in proportion to its priority, as far as it
 *     wants it. A worker may keep its CPU for some 1 ms before it is asked, and
 *     gives it at its next safe point. Within a scheduler those that wait come
 *     in the order in which they began to.
 *
 * A safe point comes when a worker has nothing to do, and every 61 times that
 * it has started a task or resumed a fiber. Nothing is interrupted: a task that
 * runs for long without waiting, or sleeps in the system, keeps its CPU for so
 * long (blocking.h is for the latter). Minimums that add up to all CPUs leave
 * nothing to a scheduler without one, as long as the others use all of theirs.
 *
 * Fibers stay on their threads. Bound threads, threads for blocking calls and
 * those of the program are not counted, nor is what workers do to fall asleep,
 * wake up, begin and end. A fiber that waits for the end of another scheduler
 * (sennit_scheduler_shutdown) lends its CPU meanwhile.
 */
#ifndef SENNIT_RESOURCES_H
#define SENNIT_RESOURCES_H

#include "sennit/base.h"

SENNIT_BEGIN

typedef struct sennit_resources sennit_resources;

/* The highest sennit_config.resources_priority. */
#define SENNIT_RESOURCES_PRIORITY_MAX 1024

/* Create a budget of so many CPUs, 0: sennit_cpu_count(), with one reference,
 * the caller's, and store it in *out. Each scheduler that takes part holds one
 * until it has ended. In the child of a fork it is of no use.
 * Returns 0, -EINVAL for more than 1024 CPUs or an allocator without both
 * functions, -ENOMEM, or -EAGAIN as sennit_scheduler_create.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_resources_create(
	sennit_resources **out, uint32_t cpus,
	const sennit_allocator *allocator);

/* Take one more reference; the caller has one. Returns r.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_resources *sennit_resources_retain(sennit_resources *r);

/* Give one reference back; the last one frees the memory.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_resources_release(sennit_resources *r);

/* What sennit_resources_get_stats tells, all of one moment. */
typedef struct sennit_resources_stats {
	size_t   size;        /* sizeof(sennit_resources_stats) in the caller's
			       * build */
	uint32_t cpus;        /* the budget */
	uint32_t schedulers;  /* that take part */
	uint32_t promised;    /* sum of their minimums */
	uint32_t active;      /* active workers */
	uint32_t active_peak; /* the most there were at once */
	uint32_t waiting;     /* workers that have work and no CPU */
	uint64_t yields;      /* times a worker gave its CPU to another although
			       * it had work */
} sennit_resources_stats;

/* Fill *stats, whose size field is set. Misuse with a size smaller than the
 * first release's.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_resources_get_stats(sennit_resources       *r,
					   sennit_resources_stats *stats);

SENNIT_END

#endif
