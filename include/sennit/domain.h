/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - domains: parts of a scheduler's work that end by themselves, as a
 * scheduler does.
 *
 *	create --> schedule, schedule, ... --> release
 *	            all done, no references ----> notified, once
 *
 * A domain is a reference-counted set of tasks. It ends when nobody holds a
 * reference and all its tasks have ended, suspended tasks included. Then its
 * owner is notified. Tasks are not counted in memory that workers share, so a
 * domain adds almost no cost to its tasks, whatever the number of workers.
 *
 * A task of a domain that calls sennit_schedule, sennit_schedule_copy,
 * sennit_schedule_task or sennit_schedule_many schedules in the same domain. So
 * do the members of its groups, and the tasks that they schedule.
 * sennit_enqueue names a scheduler and schedules outside of the domain.
 * Continuations of futures and tickets belong to no domain.
 *
 * A domain differs from a group: no task waits in it for the others, its tasks
 * may outlive the task that started them, and it cannot be cancelled.
 */
#ifndef SENNIT_DOMAIN_H
#define SENNIT_DOMAIN_H

#include "sennit/end.h"
#include "sennit/task.h"

SENNIT_BEGIN

typedef struct sennit_domain sennit_domain;

/* Create a domain of *s and store it in *out. The caller owns one reference.
 *
 * on_end(argument), if on_end is not NULL, is called once when the domain has
 * ended. It runs on the worker of the last task, between two tasks, or in the
 * last sennit_domain_release, before that returns. At that time nothing of the
 * domain is left. on_end must not wait. The domain holds a reference to *s
 * until on_end has returned. A domain takes 128 bytes of memory for each worker
 * that *s may have, and 128 bytes more.
 * Returns 0 or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_create(sennit_domain   **out,
						    sennit_scheduler *s,
						    sennit_end_fn    *on_end,
						    void             *argument);

/* Take another reference to *d. The caller must hold a reference or run a task
 * of *d, even if that task is all that keeps the domain alive.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_domain_retain(sennit_domain *d);

/* Release a reference. After the last release the domain ends when its work is
 * done. *d may be freed before the call returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_domain_release(sennit_domain *d);

/* Schedule run(argument), or *task with its flags, in *d. The caller must hold
 * a reference to *d or run a task of it. The task is placed as sennit_enqueue
 * places it on the domain's scheduler, under the same conditions.
 * Returns 0, or -EINVAL or -ENOMEM as sennit_enqueue does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_schedule(sennit_domain  *d,
						      sennit_task_fn *run,
						      void           *argument);
SENNIT_API SENNIT_MUST_USE int sennit_domain_schedule_task(
	sennit_domain *d, const sennit_task *task);

/* Return the domain that the calling task belongs to, or NULL if it belongs to
 * none. The call takes no reference.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_domain *sennit_domain_current(void);

/* Return the scheduler of *d. The call takes no reference.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_scheduler *sennit_domain_scheduler(const sennit_domain *d);

SENNIT_END

#endif
