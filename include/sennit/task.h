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
 * it: from a task its own worker or a thief, from a bound thread a spinning
 * worker or the next in turn. Without, the calling thread runs it when it
 * blocks or unbinds. Misuse with no scheduler bound.
 * Returns 0, or -ENOMEM: nothing was scheduled.
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
 * Returns 0, -EINVAL for unknown flags, a reserved_ that is not 0 or no
 * function, or -ENOMEM: nothing was scheduled.
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

/* --- arguments made in place -------------------------------------------- */

/* Take memory for an argument of `size` bytes, aligned to 16, from where *s (or
 * the bound scheduler, if s is NULL) takes that of copies: up to
 * SENNIT_COPY_SMALL bytes it needs no call to the allocator. For what cannot be
 * copied bytewise, such as objects of C++: it is made there, goes to a task by
 * its address, and the memory is given back when the task has had it. Misuse
 * with a NULL and no scheduler bound.
 * Returns NULL when there is no memory.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE void *sennit_argument_take(sennit_scheduler *s,
						      size_t            size);

/* Give back what was taken from the same scheduler with the same size, before
 * that ends: the task itself may do so, at any time, or anyone else.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_argument_give(sennit_scheduler *s, void *argument,
				     size_t size);

SENNIT_END

#endif
