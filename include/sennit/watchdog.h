/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - says what takes too long, and what stands still: tasks that keep
 * others waiting, ready fibers that do not get their turn, waits, deadlocks,
 * and schedulers all of whose workers are stuck.
 *
 * In libsennit-diag. A watchdog is a thread that looks at the report of a
 * scheduler four times in its shortest limit. Nothing is recorded for it, so
 * without a watchdog there is no cost. A look costs as much as a report; with
 * `deadlock_ms`, four to eight times in that limit, also as much as the
 * wait-for graph, but that takes no more than a twentieth of a CPU: with
 * 100,000 fibers it is made every few seconds, and finds a deadlock later.
 *
 * A finding is a text of one line or several, of which the others are indented.
 * It has the place, the name and the function of each task, what it does and
 * for how long, and its backtrace, innermost frame first. For a running task
 * that is where a signal found its thread (sennit/stacks.h), for another one
 * where the fiber waits. For example, the first in one line:
 *
 *	sennit watchdog: worker 1, thread 712, fiber 3: load (load+0x0)
 *	runs for 214 ms while others are ready: parse+0x41 < load+0x1c
 *
 *	sennit watchdog: standstill: each of the 2 workers is in one task for
 *	1000 ms or more; 7 fibers wait, 3 are ready, 40 tasks are queued
 *	  worker 0, thread 712, fiber 1: load runs, with 99 % of a CPU: ...
 *	  worker 1, thread 713, fiber 4: store is in system call read, with 0 %
 *	  of a CPU: __read+0x1d < store+0x20
 *
 * Names are escaped as in sennit_scheduler_print_report.
 *
 * Bounds: a case that lasts for less than its limit causes no finding. One that
 * lasts for one and a half times its limit, and a millisecond, causes one,
 * unless the watchdog's thread does not get the CPU or the bound on findings
 * delays it. However long it lasts, there is no second one. Waits for one
 * object are one case, as long as one of them exceeds its limit; a case of
 * standstill ends when any worker goes on, or any blocking call. There are at
 * most SENNIT_WATCHDOG_LINES findings in any SENNIT_WATCHDOG_WINDOW, none
 * longer than SENNIT_WATCHDOG_TEXT; more of them wait, and are dropped if their
 * case has ended. At most SENNIT_WATCHDOG_FIBERS tasks that run, ready fibers,
 * waits and busy workers, and 64 deadlocks, are watched at a time.
 */
#ifndef SENNIT_WATCHDOG_H
#define SENNIT_WATCHDOG_H

#include "sennit/report.h"

SENNIT_BEGIN

#define SENNIT_WATCHDOG_LINES  10
#define SENNIT_WATCHDOG_WINDOW (10 * SENNIT_SECOND)
#define SENNIT_WATCHDOG_FIBERS 4096
#define SENNIT_WATCHDOG_TEXT   8192 /* bytes */

/* A kind of waits, by its SENNIT_WAITS_FOR_*: see sennit_watchdog_wait. */
#define SENNIT_WATCHDOG_KIND(waits_for) (UINT32_C(1) << (waits_for))

/* Waits for locks: a mutex, a reader-writer lock, a once. */
#define SENNIT_WATCHDOG_LOCKS                            \
	(SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_MUTEX) |  \
	 SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_RWLOCK) | \
	 SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_ONCE))

/* All but sleep, I/O, blocking calls and unbinding, which last as long as the
 * program, or its peer, wants. */
#define SENNIT_WATCHDOG_WAITS                               \
	(~(SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_NOTHING) | \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_TIME) |    \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_IO) |      \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_CALL) |    \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_WORK)))

/* A limit for some waits. */
typedef struct sennit_watchdog_wait {
	uint32_t        kinds; /* SENNIT_WATCHDOG_KIND() of the waits, joined;
				* 0: SENNIT_WATCHDOG_WAITS */
	uint32_t        ms;    /* 0: these waits have no limit */
	sennit_task_fn *task;  /* only of tasks with this function; NULL: all */
	const char     *name;  /* only of tasks with this name, as in reports;
				* NULL: all */
} sennit_watchdog_wait;

typedef struct sennit_watchdog sennit_watchdog;

typedef struct sennit_watchdog_options {
	uint32_t task_ms;  /* limit for a task that runs without waiting while
			    * its worker has ready fibers or tasks; 0: none */
	uint32_t ready_ms; /* limit for a fiber that is ready, or whose
			    * deadline has passed: its worker did not look at
			    * its timers since; 0: none */
	uint32_t standstill_ms; /* limit for a scheduler with each worker in
				 * one task that neither waits nor ends: it
				 * computes, or blocks its thread. Then nobody
				 * looks for I/O, timers and new tasks. And for
				 * blocking calls that wait for a thread, while
				 * no call ends and no thread is added
				 * (sennit/blocking.h). 0: none */
	uint32_t deadlock_ms;   /* limit for fibers that wait for each other in
				 * a circle (sennit/wait_graph.h), also through
				 * other schedulers; 0: none */
	/* Limits for waits. The first one that fits a wait decides. Copied, but
	 * not the names. */
	const sennit_watchdog_wait *waits;
	uint32_t                    wait_count;
	int fd; /* where findings are written, with a newline; ignored with
		 * `line` */
	/* Called with each finding instead, on the watchdog's thread. The text
	 * is valid until it returns. It may call everything but
	 * sennit_watchdog_stop. */
	void (*line)(void *context, const char *text);
	void *context; /* for `line` */
} sennit_watchdog_options;

/* Start a watchdog of *s and store it in *out. It has a thread of its own and
 * keeps a reference to *s: s does not end before sennit_watchdog_stop. The
 * caller must hold a reference or run a task of *s. *options is copied.
 * Returns 0; -EINVAL if no limit is given; -ENOMEM; -EAGAIN if the system
 * refuses the thread.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_watchdog_start(
	sennit_watchdog **out, sennit_scheduler *s,
	const sennit_watchdog_options *options);

/* Stop and free the watchdog. No finding comes after this call. In the child of
 * a fork, which has no such thread, it only frees.
 *
 * From: fiber, thread; not from `line`.  Blocks: yes (the thread, until a look
 * or a finding that has begun is done).  */
SENNIT_API void sennit_watchdog_stop(sennit_watchdog *w);

SENNIT_END

#endif
