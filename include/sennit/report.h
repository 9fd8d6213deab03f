/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - who is alive in a scheduler: what runs, what waits, and for what.
 *
 * For a scheduler that does not end, or does not go on. Fibers keep the record
 * all the time, for a few stores per task and wait, so it may be asked for at
 * any time and needs no preparation.
 *
 * Times come from a clock that each worker reads when it goes idle or has been,
 * and each 61st time that it starts a task or resumes a fiber. So `since` is
 * never too late; it may be too early by 10 ms, and by as long as what its
 * worker did since it last read its clock.
 */
#ifndef SENNIT_REPORT_H
#define SENNIT_REPORT_H

#include "sennit/task.h"

SENNIT_BEGIN

enum sennit_report_state {
	SENNIT_REPORT_RUNNING = 0, /* or a bound thread that is not in sennit */
	SENNIT_REPORT_READY = 1,   /* has yielded, or its wait is over */
	SENNIT_REPORT_BLOCKED = 2,
	SENNIT_REPORT_QUEUED = 3 /* no fiber: tasks that have not started */
};

enum sennit_waits_for {
	SENNIT_WAITS_FOR_NOTHING = 0,
	SENNIT_WAITS_FOR_EVENT = 1,
	SENNIT_WAITS_FOR_WAIT_GROUP = 2,
	SENNIT_WAITS_FOR_MUTEX = 3,
	SENNIT_WAITS_FOR_COND = 4,
	SENNIT_WAITS_FOR_NOTIFY = 5, /* sennit_fiber_wait; object: the mutex */
	SENNIT_WAITS_FOR_TIME = 6,   /* sleep; no object */
	SENNIT_WAITS_FOR_WORK = 7,   /* sennit_unbind, for the tasks and fibers
				      * of its thread; no object */
	SENNIT_WAITS_FOR_RWLOCK = 8,
	SENNIT_WAITS_FOR_SEMAPHORE = 9,
	SENNIT_WAITS_FOR_BARRIER = 10,
	SENNIT_WAITS_FOR_ONCE = 11,
	SENNIT_WAITS_FOR_TICKET = 12,
	SENNIT_WAITS_FOR_CALL = 13, /* a blocking call on a helper thread */
	SENNIT_WAITS_FOR_POOL = 14,
	SENNIT_WAITS_FOR_CHANNEL = 15,
	SENNIT_WAITS_FOR_SELECT = 16, /* one of several; object: the first */
	SENNIT_WAITS_FOR_FUTURE = 17,
	SENNIT_WAITS_FOR_GROUP = 18
};

/* sennit_report_entry.worker on a bound thread. */
#define SENNIT_REPORT_BOUND UINT32_MAX

/* The same of background tasks that no worker has taken yet. */
#define SENNIT_REPORT_BACKGROUND (UINT32_MAX - 1)

typedef struct sennit_report_entry {
	size_t          size;      /* sizeof(sennit_report_entry) in the
				    * library's build */
	uint32_t        state;     /* enum sennit_report_state */
	uint32_t        worker;    /* 0..workers-1, or SENNIT_REPORT_* */
	uint32_t        thread;    /* the system's number of its thread */
	uint32_t        fiber;     /* as sennit_fiber_id says */
	sennit_task_fn *task;      /* what the fiber was begun with; NULL: a
				    * bound thread's own stack */
	const void     *object;    /* READY, BLOCKED: what it waits for, or
				    * waited for; an address that may not be
				    * valid any more */
	uint32_t        waits_for; /* READY, BLOCKED: enum sennit_waits_for */
	uint32_t        count;     /* QUEUED: how many, at least: tasks bound
				    * to stay on their thread are not seen */
	sennit_time     since;     /* RUNNING: it began or resumed; READY,
				    * BLOCKED: it began to wait */
	sennit_time     deadline;  /* READY, BLOCKED: when the wait ends at the
				    * latest, by its own deadline or that of a
				    * group around it; of a wait for a group,
				    * that group's; or SENNIT_NEVER */
	const char     *name;      /* what the task has named itself, else what
				    * its function was named, else NULL; any
				    * bytes, as they were given; valid until
				    * visit returns */
} sennit_report_entry;

/* Call visit(context, entry) for each fiber of *s that runs, is ready or is
 * blocked, bound threads' own stacks included, for each worker with tasks that
 * have not started, and for the background tasks of them all. Every entry is
 * true of a moment during the call. A fiber that comes, goes or changes
 * meanwhile is seen before or after that, or not at all. visit must not block
 * nor call into sennit, but for sennit_now: a worker that needs a new stack,
 * and a thread that binds or unbinds, waits for it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_report(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_report_entry *entry),
	void *context);

/* Write the report to the file descriptor, a line per entry, then a line that
 * says so if all that is left waits and nothing inside can wake it: no worker
 * is awake, no thread is bound that does not wait, no wait is for a blocking
 * call or has a deadline, of its own or of a group around it. A task's name, if
 * it has one, comes before its function.
 * Functions without a name of the program's (sennit_task_set_name) are named
 * where the program exports them (-rdynamic), else by file and offset as
 * addr2line wants them. In all names control characters, bytes that are not
 * UTF-8 and backslashes are shown as \n, \x1b, \\. Allocates nothing. The text
 * is for people and may change with any release.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API void sennit_scheduler_print_report(sennit_scheduler *s, int fd);

SENNIT_END

#endif
