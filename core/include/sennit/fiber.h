/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - the running fiber: sleep, yield, wait for a notify.
 *
 * A fiber belongs to one worker for its whole life and always resumes on that
 * worker's thread. So thread-local variables and thread identity hold across
 * every wait.
 */
#ifndef SENNIT_FIBER_H
#define SENNIT_FIBER_H

#include "sennit/cond.h"
#include "sennit/task.h"

SENNIT_BEGIN

typedef struct sennit_fiber sennit_fiber;

/* Return the running fiber, or NULL on an unbound thread. The handle is valid
 * for sennit_fiber_notify as long as the scheduler exists or, for a fiber of a
 * bound thread, until that thread unbinds. Once the fiber has ended, the handle
 * names another fiber or none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_fiber *sennit_fiber_current(void);

/* The result of sennit_worker_current on a thread that is no worker's. */
#define SENNIT_WORKER_NONE UINT32_MAX

/* Return the index of the worker whose thread calls, 0..workers-1, for data
 * that a program keeps for each worker. SENNIT_WORKER_NONE on a bound thread
 * and on an unbound one.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_worker_current(void);

/* Return the number of *f, which is unique among the fibers of its worker. 0 is
 * a bound thread's own stack.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_fiber_number(const sennit_fiber *f);

/* Suspend the running fiber until holds(argument) returns true, the deadline
 * passes, or the caller's group is cancelled. The caller holds *m. The
 * predicate is called with *m locked. *m is unlocked only once any later notify
 * is sure to wake the fiber, and it is locked again when the call returns. If a
 * notify finds the predicate false, the fiber continues to wait. It is misuse
 * to call this on an unbound thread.
 * Returns what the predicate returned last.
 *
 * From: fiber.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE bool sennit_fiber_wait(sennit_mutex     *m,
						  sennit_predicate *holds,
						  void             *argument,
						  sennit_time       deadline);

/* Name the running task in reports and messages of misuse, until it ends. The
 * library copies the name and cuts it to SENNIT_TASK_NAME_SIZE - 1 bytes. NULL
 * or "" removes the name; the task then has the name of its function
 * (sennit_function_set_name). On a bound thread's own stack the call names that
 * stack until the thread unbinds. On an unbound thread it does nothing.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_task_set_name(const char *name);

/* What a thread runs: see sennit_fiber_running. */
typedef struct sennit_running {
	size_t          size; /* sizeof(sennit_running) in the caller's build */
	sennit_task_fn *task; /* the task's function; NULL: none */
	const char     *function; /* the name that sennit_function_set_name gave
				   * the function; NULL: none */
	uint32_t        fiber;    /* sennit_fiber_number; 0: a thread's own
				   * stack */
	uint32_t        worker;   /* its index; SENNIT_RUNNING_BOUND: a bound
				   * thread's */
	uint32_t        call;     /* 1: the thread makes a blocking call of the
				   * task: it is not on the fiber's stack */
	uint32_t        reserved_;
	const void     *low;  /* the fiber's stack ends there; NULL: a
				   * thread's own stack */
	const void     *high; /* ... and begins there */
	/* The name that the task has given itself; "": none. */
	char name[SENNIT_TASK_NAME_SIZE];
} sennit_running;

#define SENNIT_RUNNING_BOUND UINT32_MAX

/* Store in *out what the calling thread runs. The caller sets its size field
 * before; it is misuse if the size is smaller than that of the first release.
 * On a thread that makes a blocking call (sennit/blocking.h) it is the task
 * that waits for the call. The call takes no lock and allocates nothing, so
 * hooks of an allocator and handlers of signals may make it, also while the
 * library itself runs. Between tasks `task` is NULL; while the thread changes
 * stacks, the fiber is the old one or the new one. Returns false, and leaves
 * *out unchanged, on a thread that is not bound and makes no blocking call.
 *
 * From: fiber, thread, signal handler.  Blocks: no.  */
SENNIT_API bool sennit_fiber_running(sennit_running *out);

/* Make *f evaluate its predicate again. The call does nothing if *f is not in
 * sennit_fiber_wait or is about to return from it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_fiber_notify(sennit_fiber *f);

/* Let the ready fibers of this worker run, and from time to time a task that
 * has not started. On an unbound thread, yield the CPU.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_yield(void);

/* Sleep until the time `wake`, in nanoseconds of the monotonic clock. If it has
 * passed, return at once. With SENNIT_NEVER, sleep until cancelled.
 * Returns 0, -ECANCELED if the caller's group is cancelled before `wake`, or
 * -ETIMEDOUT if the group's deadline passes before `wake`.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_sleep_until(sennit_time wake);

/* Sleep for the given number of nanoseconds.
 * Returns 0, -ECANCELED if the caller's group is cancelled meanwhile, or
 * -ETIMEDOUT if the group's deadline passes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_sleep(uint64_t nanoseconds);

SENNIT_END

#endif
