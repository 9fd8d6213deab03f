/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - scheduling functions to run.
 *
 * A task is a function and its argument: a pointer, or a copy of any number of
 * bytes. It runs once, on one worker, may schedule and may block. Until it has
 * started it may be stolen by another worker.
 */
#ifndef SENNIT_TASK_H
#define SENNIT_TASK_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

typedef void sennit_task_fn(void *argument);

/* sennit_task.flags: run on the worker or bound thread that schedules it;
 * never stolen. Misuse from a thread that is not bound to the scheduler. */
#define SENNIT_TASK_SAME_THREAD UINT32_C(1)

/* sennit_task.flags: start only when there is nothing else to do: a worker has
 * no ready fiber, no task of its own and none to steal; without workers, when
 * the bound thread that schedules it waits or unbinds and has no other task.
 * The oldest first. So that none starves, one background task is started every
 * 10 ms, by the first worker that has made 61 dispatches by then, even if there
 * is always something else. Once started it is a task like any other: nothing
 * interrupts it, and its fiber resumes in turn with all. Scheduling one costs a
 * lock that background tasks share. Not together with SENNIT_TASK_SAME_THREAD:
 * -EINVAL. */
#define SENNIT_TASK_BACKGROUND UINT32_C(2)

/* Copies of up to this many bytes need no call to the allocator (but for the
 * growth of a reused pool). */
#define SENNIT_COPY_SMALL 48

typedef struct sennit_task {
	sennit_task_fn *run;
	void           *argument;  /* passed to run; or, with copy_size > 0,
				   * the bytes to copy */
	size_t          copy_size; /* bytes to copy, 0: pass the pointer. The
				    * copy is aligned to 16 bytes, and valid
				    * until run returns */
	uint32_t        flags;     /* SENNIT_TASK_* */
	uint32_t        reserved_; /* must be 0 */
} sennit_task;

/* Schedule run(argument) on the bound scheduler. With workers, one of them runs
 * it. From a task that is its own worker, or another that has nothing to do and
 * takes it. From a bound thread, and from a task with
 * SENNIT_PLACEMENT_SPREAD, it goes to the workers in turn, one after the other;
 * that one runs it, or another that has nothing to do and takes a share of what
 * the first has not looked at. Without workers, the calling thread runs it when
 * it blocks or unbinds. Misuse with no scheduler bound.
 *
 * Once a task waits it stays with its worker. So tasks that all wait are shared
 * out before they start: of n that are sent in turn to W idle workers none
 * starts more than 3/2 n/W + 4. Of n that lie with one worker, each idle worker
 * is dealt an equal share whenever that one has begun 4 more waits.
 * A worker that is busy, or kept from running, may get less, and others more.
 *
 * Returns 0, -EINVAL when run is NULL, or -ENOMEM: nothing was scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule(sennit_task_fn *run,
					       void           *argument);

/* Schedule run on a copy of the `size` bytes at *arguments, made before the
 * call returns; run gets the copy's address. With a size of 0 it gets the
 * pointer itself.
 * Returns 0, -EINVAL when run is NULL, or -ENOMEM: nothing was scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_copy(sennit_task_fn *run,
						    const void     *arguments,
						    size_t          size);

/* Schedule *task, with its flags, on the bound scheduler. *task may be reused
 * at once.
 * Returns 0, -EINVAL for unknown flags or flags that exclude each other, a
 * reserved_ that is not 0 or no function, or -ENOMEM: nothing was scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_task(const sennit_task *task);

/* Schedule *task on *s, to which the caller holds a reference or whose task it
 * runs. The caller need not be bound, unless *s has no workers or the task is
 * SENNIT_TASK_SAME_THREAD: then it must be bound to *s or run one of its tasks.
 * Returns 0, -EINVAL and -ENOMEM as sennit_schedule_task does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_enqueue(sennit_scheduler  *s,
					      const sennit_task *task);

/* --- many at once -------------------------------------------------------- */

/* Schedule tasks[0..count-1], with their flags, which are the same for all, on
 * the bound scheduler, as if one by one in this order, but all or none: they go
 * the same way, appear in one step, and at most one sleeping worker is woken,
 * who has the next one woken if there is more to do. The array may be reused at
 * once. A count of 0 does nothing. To wait for all of them:
 *
 *	sennit_wait_group done;
 *
 *	sennit_wait_group_init(&done, n);	// each task calls ..._done
 *	err = sennit_schedule_many(tasks, n);
 *	if (!err)
 *		sennit_wait_group_wait(&done);
 *
 * From a task they go onto its worker's own queue, where that worker takes the
 * last first and thieves the first; from a bound thread all to one worker, who
 * begins with the first and of whom others steal. With SENNIT_PLACEMENT_SPREAD
 * each worker gets a run of neighbours.
 * Returns 0, -EINVAL when flags differ or as sennit_schedule_task does for any
 * of them, or -ENOMEM: nothing was scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_many(const sennit_task *tasks,
						    size_t             count);

/* The same on *s, under the conditions of sennit_enqueue.
 * Returns 0, -EINVAL and -ENOMEM as sennit_schedule_many does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_enqueue_many(sennit_scheduler  *s,
						   const sennit_task *tasks,
						   size_t             count);

/* --- names --------------------------------------------------------------- */

/* How many functions can be given a name. */
#define SENNIT_TASK_NAMES 1024

/* Call tasks that run the function so, in reports and messages of misuse, in
 * the whole process. The name must stay valid for ever: a literal, as a rule.
 * NULL takes it away again, though not the function's place among those with a
 * name.
 * Returns 0, -EINVAL when run is NULL, or -ENOSPC when SENNIT_TASK_NAMES
 * functions have been given one.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_task_set_name(sennit_task_fn *run, const char *name);

/* What the function was named, or NULL.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_task_name(sennit_task_fn *run);

/* Bytes of a running task's own name, with the 0 at its end. */
#define SENNIT_NAME_SIZE 32

/* --- arguments made in place -------------------------------------------- */

/* Take memory for an argument of `size` bytes, aligned to 16, from where *s (or
 * the bound scheduler, if s is NULL) takes that of copies: up to
 * SENNIT_COPY_SMALL bytes it needs no call to the allocator. For what cannot be
 * copied bytewise, such as objects of C++: it is made there, goes to a task by
 * its address, and the memory is given back when the task has had it. Misuse
 * of NULL with no scheduler bound.
 * Returns NULL when there is no memory.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE void *sennit_argument_alloc(sennit_scheduler *s,
						       size_t            size);

/* Give back what was taken from the same scheduler with the same size, before
 * that ends: the task itself may do so, at any time, or anyone else.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_argument_free(sennit_scheduler *s, void *argument,
				     size_t size);

SENNIT_END

#endif
