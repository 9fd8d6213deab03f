/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.h - a wait group: a counter that tasks and threads wait on until
 * it is zero.
 *
 * A wait group with all bytes zero has a count of zero. A wait group needs no
 * destruction. shared.h adds a reference count.
 */
#ifndef SENNIT_WAIT_GROUP_H
#define SENNIT_WAIT_GROUP_H

#include "sennit/task.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The largest count. */
#define SENNIT_WAIT_GROUP_MAX UINT32_C(0x1fffffff)

typedef struct sennit_wait_group {
	/* Aligned to 8 everywhere: the tag of a tied task stands in the low
	 * bits of its wait group's address. */
	__attribute__((aligned(8))) sennit_word state_;
	sennit_half                             tied_, kept_;
	void                                   *waiters_;
} sennit_wait_group;

/* clang-format off */
#define SENNIT_WAIT_GROUP_INIT { { 0 }, { 0 }, { 0 }, NULL }
/* clang-format on */

/* Initialise *g as a wait group with the given count. It is misuse to pass more
 * than SENNIT_WAIT_GROUP_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_init(sennit_wait_group *g, uint32_t count);

/* Declare that *g is no longer used. This call is optional. It is misuse while
 * anyone waits for *g.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_destroy(sennit_wait_group *g);

/* Add n to the count. It is misuse to exceed SENNIT_WAIT_GROUP_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_add(sennit_wait_group *g, uint32_t n);

/* Subtract one from the count. If the count becomes zero, the call releases all
 * waiters, and any of them may free *g at once. It is misuse if the count is
 * zero already.
 * Returns whether this call made the count zero.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_wait_group_done(sennit_wait_group *g);

/* Add 1 to the count and schedule run(argument) as sennit_schedule does. After
 * the task has returned the library subtracts that 1; it is misuse if another
 * call does. *g must exist until the count is zero. Like any scheduled task it
 * is inside no group.
 *
 *	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
 *
 *	err = sennit_wait_group_spawn(&left, sort, &upper);
 *	sort(&lower);
 *	sennit_wait_group_wait(&left);
 *
 * sennit_wait_group_wait may run the task as a plain call on the stack of its
 * caller, if that is the worker that spawned the task, and the task is the
 * newest one there that no worker has taken. Then the task
 *   - finds at least half of a stack, and at least 16 KiB, below it;
 *   - starts with the floating-point control of the waiting task and must leave
 *     it unchanged, as calling conventions require of every function;
 *   - has the same sennit_fiber_current as the waiting task.
 *
 * It is misuse if no scheduler is bound, or to exceed SENNIT_WAIT_GROUP_MAX.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is scheduled
 * and the count is as before.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_wait_group_spawn(sennit_wait_group *g,
						       sennit_task_fn    *run,
						       void *argument);

/* Wait until the count is zero or the deadline passes.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_wait_group_wait_until(
	sennit_wait_group *g, sennit_time deadline);

/* Wait until the count is zero. Tasks that sennit_wait_group_spawn tied to *g
 * may run on the caller's stack meanwhile.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_wait_group_wait(sennit_wait_group *g);

SENNIT_END

#endif
