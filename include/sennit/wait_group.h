/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.h - a wait group: a counter that tasks and threads wait on until
 * it is zero.
 *
 * A wait group with all bytes zero has a count of zero. A wait group needs no
 * destruction. shared.h has a reference-counted form.
 */
#ifndef SENNIT_WAIT_GROUP_H
#define SENNIT_WAIT_GROUP_H

#include "sennit/task.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The largest count. */
#define SENNIT_WAIT_GROUP_MAX UINT32_C(0x1fffffff)

typedef struct sennit_wait_group {
	sennit_word state_;
	sennit_word tied_;
	void       *waiters_;
} sennit_wait_group;

/* clang-format off */
#define SENNIT_WAIT_GROUP_INIT { { 0 }, { 0 }, NULL }
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

/* Add 1 to the count and schedule run(argument) as sennit_schedule does. When
 * the task has returned, the library subtracts the 1. The task must not do it,
 * and no other caller may do it in its place. The task is inside no cancelled
 * group, as any scheduled task; *g must exist until the count is zero.
 *
 * Use it for tasks that the caller waits for with sennit_wait_group_wait. On
 * the worker that spawned it, that wait runs the task as a plain call on the
 * stack of the waiting task, the newest task first, if it is the worker's
 * newest task and no other has taken it. The rest of the count may come from
 * anywhere. Such a call
 *   - finds at least half of a stack, and at least 16 KiB, below it;
 *   - starts with the floating-point control of the waiting task and must leave
 *     it unchanged;
 *   - has the same sennit_fiber_current as the waiting task.
 *
 *	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
 *
 *	err = sennit_wait_group_spawn(&left, sort, &upper);
 *	sort(&lower);
 *	sennit_wait_group_wait(&left);
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

/* Wait until the count is zero. Meanwhile tasks of sennit_wait_group_spawn may
 * run on the caller's stack.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_wait_group_wait(sennit_wait_group *g);

SENNIT_END

#endif
