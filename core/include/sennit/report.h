/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - a report of a scheduler's fibers: which run, which wait, and for
 * what.
 *
 * Use it for a scheduler that does not end or makes no progress. Fibers keep
 * the record all the time, at the cost of a few stores per task and wait. So
 * the report needs no preparation and is available at any time.
 *
 * Times come from a clock that each worker reads when it goes idle, when it
 * stops being idle, and every 61st time that it starts a task or resumes a
 * fiber. So `since` is never too late. It may be too early by 10 ms plus the
 * time that its worker has run since it last read its clock.
 */
#ifndef SENNIT_REPORT_H
#define SENNIT_REPORT_H

#include "sennit/task.h"

SENNIT_BEGIN

enum sennit_report_state {
	SENNIT_REPORT_RUNNING = 0, /* or a bound thread that is not in sennit */
	SENNIT_REPORT_READY = 1,   /* it has yielded, or its wait is over */
	SENNIT_REPORT_BLOCKED = 2,
	SENNIT_REPORT_QUEUED = 3 /* no fiber: tasks that wait for a worker and
				  * have not started */
};

enum sennit_waits_for {
	SENNIT_WAITS_FOR_NOTHING = 0,
	SENNIT_WAITS_FOR_EVENT = 1,
	SENNIT_WAITS_FOR_WAIT_GROUP = 2,
	SENNIT_WAITS_FOR_MUTEX = 3,
	SENNIT_WAITS_FOR_COND = 4,
	SENNIT_WAITS_FOR_NOTIFY = 5, /* sennit_fiber_wait; object: the mutex */
	SENNIT_WAITS_FOR_TIME = 6,   /* sleep; no object */
	SENNIT_WAITS_FOR_WORK =
		7, /* sennit_thread_unbind waits for the tasks and
				      * fibers of its thread; no object */
	SENNIT_WAITS_FOR_RWLOCK = 8,
	SENNIT_WAITS_FOR_SEMAPHORE = 9,
	SENNIT_WAITS_FOR_BARRIER = 10,
	SENNIT_WAITS_FOR_ONCE = 11,
	SENNIT_WAITS_FOR_TICKET = 12,
	SENNIT_WAITS_FOR_CALL = 13, /* a blocking call on a helper thread */
	SENNIT_WAITS_FOR_POOL = 14,
	SENNIT_WAITS_FOR_CHANNEL = 15,
	SENNIT_WAITS_FOR_SELECT = 16, /* one of several objects; object: the
				       * first */
	SENNIT_WAITS_FOR_FUTURE = 17,
	SENNIT_WAITS_FOR_GROUP = 18,
	SENNIT_WAITS_FOR_IO = 19, /* object: the file descriptor, a number */
	SENNIT_WAITS_FOR_MEMBERS = 20 /* the members of a group, until a
				       * deadline; object: the group */
};

/* The value of sennit_report_entry.worker for a bound thread. */
#define SENNIT_REPORT_BOUND UINT32_MAX

/* The value of sennit_report_entry.worker for background tasks that no worker
 * has taken yet. */
#define SENNIT_REPORT_BACKGROUND (UINT32_MAX - 1)

typedef struct sennit_report_entry {
	size_t          size;       /* sizeof(sennit_report_entry) in the
				    * library's build */
	uint32_t        state;      /* enum sennit_report_state */
	uint32_t        worker;     /* 0..workers-1, or SENNIT_REPORT_* */
	uint32_t        thread;     /* the system's number of its thread
				     * (TID) */
	uint32_t        fiber;      /* as sennit_fiber_number returns */
	sennit_task_fn *task;       /* the function of the fiber's task; NULL: a
				     * bound thread's own stack */
	const void     *object;     /* READY, BLOCKED: the address of the object
				     * that it waits for or waited for; it may
				     * no longer be valid */
	uint32_t        waits_for;  /* READY, BLOCKED: enum sennit_waits_for */
	uint32_t        count;      /* QUEUED: a lower bound of the number of
				     * tasks; see sennit_worker_view */
	sennit_time     since;      /* RUNNING: when it began or resumed; READY,
				    * BLOCKED: when it began to wait */
	sennit_time     deadline;   /* READY, BLOCKED: the latest time at which
				     * the wait ends, from its own deadline or
				     * that of a group around it. For a wait for
				     * a group: that group's deadline.
				     * SENNIT_NEVER: none */
	const char     *name;       /* the name that the task has set; else the
				     * name of its function; else NULL. Any
				     * bytes, not escaped. Valid until visit
				     * returns */
	uint64_t        turn;       /* READY, BLOCKED: differs from the turn of
				     * the fiber's other recent waits. RUNNING:
				     * changes no later than when the fiber
				     * waits or its task ends. If two reports of
				     * a fiber have the same state and turn, the
				     * fiber has done one thing in between */
	int32_t         group;      /* BLOCKED: -ECANCELED or -ETIMEDOUT if a
				     * group around the fiber is cancelled or
				     * past its deadline but does not end this
				     * wait (see base.h); else 0 */
	const void     *inside;     /* BLOCKED: if the task runs on the stack of
				     * a task that waits for it, and that task
				     * can continue only after this one ends:
				     * the address of the group, or a place on
				     * that stack; else NULL */
	const void     *spawned_at; /* if the library was built with
				     * SENNIT_SPAWN_SITES: the return address of
				     * the call that spawned the task. It is in
				     * the library if the library spawned the
				     * task, as parallel loops do. NULL: not
				     * known, or a task of SENNIT_FORK_SPAWN */
} sennit_report_entry;

/* Call visit(context, entry) for each fiber of *s that runs, is ready or is
 * blocked, including bound threads' own stacks; for each worker with tasks that
 * have not started; and for the background tasks of all workers. Every entry
 * was true at some moment during the call. A fiber that starts, ends or changes
 * during the call is reported as it was before or after, or not at all. *entry
 * is valid until visit returns. visit must not block and must not call into
 * sennit, except sennit_now, because a worker that needs a new stack, and a
 * thread that binds or unbinds, waits until visit returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_report_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_report_entry *entry),
	void *context);

/* Write the report to the file descriptor, one line per entry. Then follow the
 * deadlocks, and the waits whose holder is known (sennit/wait_graph.h), for
 * which the call maps some memory:
 *   - "deadlock of N fibers:": the fibers of the indented lines below wait for
 *     each other in a circle. This was true at a moment during the call, and
 *     remains true unless one of the waits has a deadline or is cancelled;
 *   - "... held by ...", not indented: a wait that is not part of a deadlock.
 *     It may wait for a fiber that is part of one;
 *   - "deadlock of a fiber with itself:": a fiber tries to lock a lock that it,
 *     or the task on whose stack it runs, holds; the line says how to fix it;
 *   - "... held by the reader ...": a fiber that holds a reader-writer lock as
 *     a reader; only some are named, and none if the readers are not certain;
 *   - "... held by a thread that is not bound": the lock is held by an unbound
 *     thread;
 *   - "waits for group ..., with the member ...": the wait ends only when this
 *     member, and all others, have ended.
 *
 * A last line reports a standstill: everything that is left waits, and nothing
 * inside the scheduler can wake it. This means that at one moment no worker is
 * awake, every bound thread waits, and no wait is for a blocking call or has a
 * deadline, its own or that of a group around it. The line is also printed if
 * the waits are for events, whose setter is not known.
 *
 * A line shows the name of the task, if it has one, before its function, and
 * ends with the place where the task was spawned, if that is known
 * (spawned_at). A function without a name (sennit_function_set_name) is shown
 * by its symbol if the program exports it (-rdynamic), otherwise by file and
 * offset, in the form that addr2line accepts. In all names control characters,
 * bytes that are not UTF-8 and backslashes are escaped: \n, \x1b, \\. The call
 * uses no allocator. The text is for people and may change with any release.
 *
 * Returns 0 or the error of the first write() that failed, as a negative errno;
 * no line is written after it.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API int sennit_report_print(sennit_scheduler *s, int fd);

SENNIT_END

#endif
