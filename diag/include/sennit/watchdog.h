/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - reports tasks that keep others waiting, ready fibers that do not
 * run, long waits, deadlocks, and schedulers all of whose workers are stuck.
 *
 * In libsennit-diag. A watchdog is a thread that reads the report of a
 * scheduler four times within its shortest limit. Fibers record nothing for it,
 * so a program without a watchdog pays nothing. Each check costs as much as a
 * report. With `deadlock_ms` the watchdog also reads the wait-for graph, four
 * to eight times within that limit, but spends at most a twentieth of a CPU on
 * it. With 100,000 fibers it therefore reads the graph every few seconds and
 * finds a deadlock later.
 *
 * A finding is a text of one or more lines; all lines but the first are
 * indented. It has the place, the name and the function of each task, what the
 * task does and for how long, and its backtrace, innermost frame first. For a
 * running task the backtrace shows where a signal interrupted its thread
 * (sennit/stacks.h), for another task where the fiber waits. The first example
 * is one line:
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
 * Names are escaped as in sennit_report_print.
 *
 * Bounds: a case that is shorter than its limit causes no finding. A case that
 * lasts one and a half times its limit plus a millisecond causes one, unless
 * the watchdog's thread does not get the CPU or the bound on findings delays
 * it. Time during which the process was stopped (SIGSTOP, a debugger, a frozen
 * cgroup) does not count: between two checks at most the configured interval
 * counts. If a check is late by more than half the interval and 5 ms, an eighth
 * of the interval counts. A case causes only one finding, however long it
 * lasts. All waits for one object are one case, as long as one of them exceeds
 * its limit. A standstill ends when any worker or any blocking call makes
 * progress. There are at most SENNIT_WATCHDOG_LINES findings in any
 * SENNIT_WATCHDOG_WINDOW, and none is longer than SENNIT_WATCHDOG_TEXT. Further
 * findings are delayed, and dropped if their case has ended. At most
 * SENNIT_WATCHDOG_FIBERS running tasks, ready fibers, waits and busy workers,
 * and at most 64 deadlocks, are watched at a time.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_WATCHDOG_H
#define SENNIT_WATCHDOG_H

#include "sennit/report.h"

SENNIT_BEGIN

#define SENNIT_WATCHDOG_LINES  10
#define SENNIT_WATCHDOG_WINDOW (10 * SENNIT_SECOND)
#define SENNIT_WATCHDOG_FIBERS 4096
#define SENNIT_WATCHDOG_TEXT   8192 /* bytes */

/* The bit of a kind of wait, from its SENNIT_WAITS_FOR_*: see
 * sennit_watchdog_wait. */
#define SENNIT_WATCHDOG_KIND(waits_for) (UINT32_C(1) << (waits_for))

/* Waits for locks: a mutex, a reader-writer lock, a once. */
#define SENNIT_WATCHDOG_LOCKS                            \
	(SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_MUTEX) |  \
	 SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_RWLOCK) | \
	 SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_ONCE))

/* All kinds except sleep, I/O, blocking calls and unbinding, whose duration
 * depends on the program or its peer. */
#define SENNIT_WATCHDOG_WAITS                               \
	(~(SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_NOTHING) | \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_TIME) |    \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_IO) |      \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_CALL) |    \
	   SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_WORK)))

/* A limit for some waits. */
typedef struct sennit_watchdog_wait {
	size_t          size;  /* sizeof(sennit_watchdog_wait) in the caller's
				* build; the same in each of an array */
	uint32_t        kinds; /* SENNIT_WATCHDOG_KIND() of the waits, combined
			        * by |; 0: SENNIT_WATCHDOG_WAITS */
	uint32_t        ms;    /* milliseconds; 0: these waits have no limit */
	sennit_task_fn *task;  /* only waits of tasks with this function; NULL:
			        * all */
	const char     *name;  /* only waits of tasks with this name, as in
			        * reports; NULL: all */
} sennit_watchdog_wait;

typedef struct sennit_watchdog sennit_watchdog;

typedef struct sennit_watchdog_options {
	size_t   size;     /* sizeof(sennit_watchdog_options) in the caller's
			    * build */
	uint32_t task_ms;  /* limit for a task that runs without waiting while
			    * its worker has other ready fibers or tasks; 0:
			    * none */
	uint32_t ready_ms; /* limit for a fiber that is ready, or whose deadline
			    * has passed but whose worker has not checked its
			    * timers; 0: none */
	uint32_t standstill_ms; /* limit for a scheduler in which every worker
				 * is in one task that neither waits nor ends,
				 * because it computes or blocks its thread.
				 * Then nothing handles I/O, timers and new
				 * tasks. Also the limit for blocking calls that
				 * wait for a thread while no call ends and no
				 * thread is added (sennit/blocking.h). 0:
				 * none */
	uint32_t deadlock_ms;   /* limit for fibers that wait for each other in
				 * a circle (sennit/wait_graph.h), also across
				 * schedulers; 0: none */
	/* Limits for waits. The first entry that matches a wait applies. The
	 * array is copied; the names are not and must stay valid. */
	const sennit_watchdog_wait *waits;
	uint32_t                    wait_count;
	int fd; /* the descriptor to which findings are written, with a newline;
		 * 0: standard error; ignored if `line` is set */
	/* If set, called with each finding on the watchdog's thread. The text
	 * is valid until it returns. It may make any call except
	 * sennit_watchdog_stop. */
	void (*line)(void *context, const char *text);
	void *context; /* for `line` */
} sennit_watchdog_options;

#define SENNIT_WATCHDOG_OPTIONS(...)              \
	SENNIT_CONSTANT_(sennit_watchdog_options, \
			 .size = sizeof(sennit_watchdog_options), __VA_ARGS__)

/* Start a watchdog of *s and store it in *out. The watchdog has its own thread
 * and holds a reference to *s, so *s does not end before sennit_watchdog_stop.
 * The caller must hold a reference to *s or run a task of *s, and frees the
 * watchdog with sennit_watchdog_stop. *options is copied.
 * Returns 0; -EINVAL if no limit is given or a size is not valid; -E2BIG as
 * sennit_scheduler_create; -ENOMEM; -EAGAIN if the system
 * refuses the thread.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_watchdog_start(
	sennit_watchdog **out, sennit_scheduler *s,
	const sennit_watchdog_options *options);

/* Stop and free the watchdog. No finding comes after this call. In the child of
 * a fork, which does not have the thread, it only frees the memory.
 *
 * From: fiber, thread; not from `line`.  Blocks: yes (the thread, until a check
 * or a finding in progress is done).  */
SENNIT_API void sennit_watchdog_stop(sennit_watchdog *w);

SENNIT_END

#endif
