/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - reports what takes too long: tasks that keep others waiting,
 * ready fibers that do not get their turn, and blocking calls.
 *
 * In libsennit-diag. A watchdog is a thread that looks at the report of a
 * scheduler four times in each limit. Nothing is recorded for it, so without a
 * watchdog there is no cost. A look costs as much as a report.
 *
 * A line has the place, the name and the function of the task, what it does and
 * for how long, and its backtrace, innermost frame first. For a running task
 * that is where a signal found its thread (sennit/stacks.h), for a ready fiber
 * or a blocking call where the fiber waits. For example:
 *
 *	sennit watchdog: pool worker 1, thread 712, fiber 3: load (load+0x0)
 *	runs for 214 ms while others are ready: parse+0x41 < load+0x1c
 *
 * in one line. Names are escaped as in sennit_scheduler_print_report.
 *   - "runs for ... while others are ready": the task neither waits nor yields,
 *     and its worker has ready fibers, which no other worker can run, or tasks.
 *     Call sennit_yield() in its loop, or sennit_blocking_call() if it blocks
 *     its thread;
 *   - "is ready for ...": the fiber's worker runs something else, which has a
 *     line of its own if `task_ms` is given;
 *   - "is overdue for ...": the deadline of the fiber's wait has passed, but
 *     its worker has not looked yet;
 *   - "waits for ... for a blocking call": the call blocks. Give it a deadline
 *     of its own.
 *
 * Bounds: a case that lasts for less than its limit causes no line. One that
 * lasts for one and a half times its limit, and a millisecond, causes one line,
 * unless the watchdog's thread does not get the CPU or the bound on lines
 * delays it. However long it lasts, there is no second line. There are at most
 * SENNIT_WATCHDOG_LINES lines in any SENNIT_WATCHDOG_WINDOW; more lines wait,
 * and are dropped if their case has ended. At most SENNIT_WATCHDOG_FIBERS tasks
 * that run, ready fibers, blocking calls and busy workers are watched at a
 * time.
 */
#ifndef SENNIT_WATCHDOG_H
#define SENNIT_WATCHDOG_H

#include "sennit/report.h"

SENNIT_BEGIN

#define SENNIT_WATCHDOG_LINES  10
#define SENNIT_WATCHDOG_WINDOW (10 * SENNIT_SECOND)
#define SENNIT_WATCHDOG_FIBERS 4096

typedef struct sennit_watchdog sennit_watchdog;

typedef struct sennit_watchdog_options {
	uint32_t task_ms;  /* limit for a task that runs without waiting while
			    * its worker has ready fibers or tasks; 0: none */
	uint32_t ready_ms; /* limit for a fiber that is ready, or whose
			    * deadline has passed: its worker did not look at
			    * its timers since; 0: none */
	uint32_t call_ms;  /* limit for a blocking call; 0: none */
	int      fd;       /* where lines are written; ignored with `line` */
	/* Called with each line instead, without its newline, on the watchdog's
	 * thread. The line is valid until it returns. It may call everything
	 * but sennit_watchdog_stop. */
	void (*line)(void *context, const char *line);
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

/* Stop and free the watchdog. No line comes after this call. In the child of a
 * fork, which has no such thread, it only frees.
 *
 * From: fiber, thread; not from `line`.  Blocks: yes (the thread, until a look
 * or a line that has begun is done).  */
SENNIT_API void sennit_watchdog_stop(sennit_watchdog *w);

SENNIT_END

#endif
