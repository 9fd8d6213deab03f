/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - domains: parts of a scheduler's work that end by themselves, as a
 * scheduler does.
 *
 *	create --> schedule, schedule, ... --> release, or shutdown
 *	            all done, no references ----> all clients notified, once
 *
 * A domain is a reference-counted set of tasks. It ends when all references are
 * released and all its tasks have ended, suspended tasks included. Then its
 * owner is notified. Tasks are not counted in memory that workers share, so a
 * domain adds almost no cost to its tasks, whatever the number of workers.
 *
 * A task of a domain that calls sennit_schedule, sennit_schedule_copy,
 * sennit_schedule_task or sennit_schedule_many schedules in the same domain. So
 * do the members of its groups, and the tasks that they schedule.
 * sennit_schedule_task_on names a scheduler and schedules outside of the
 * domain. Continuations of futures and tickets belong to no domain.
 *
 * A domain differs from a group: no task waits in it for the others, its tasks
 * may outlive the task that started them, and it cannot be cancelled.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_DOMAIN_H
#define SENNIT_DOMAIN_H

#include "sennit/end.h"
#include "sennit/task.h"

SENNIT_BEGIN

typedef struct sennit_domain      sennit_domain;
typedef struct sennit_weak_domain sennit_weak_domain;

/* Create a domain of *s and store it in *out. The caller owns one reference.
 *
 * on_end(argument), if on_end is not NULL, is called once when the domain has
 * ended. It runs on the worker of the last task, between two tasks, or in the
 * last sennit_domain_release, before that returns. At that time nothing of the
 * domain is left, unless other clients wait to be notified or weak handles
 * exist. on_end must not wait. The domain holds a reference to *s until on_end
 * has returned. A domain takes 128 bytes of memory for each worker that *s may
 * have, and some 300 bytes more.
 * Returns 0, -ENOMEM, or -ESHUTDOWN as sennit_schedule_task_on does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_create(sennit_domain   **out,
						    sennit_scheduler *s,
						    sennit_end_fn    *on_end,
						    void             *argument);

/* Take another reference to *d. The caller must hold a reference or run a task
 * of *d, even if that task is all that keeps the domain alive. Returns d.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_domain *sennit_domain_retain(sennit_domain *d);

/* Release a reference. After the last release the domain ends when its work is
 * done. *d may be freed before the call returns, so a later use is in general
 * not detected. While a weak handle keeps the memory of a domain that has
 * ended, sennit_domain_retain, sennit_domain_release and sennit_domain_shutdown
 * detect it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_domain_release(sennit_domain *d);

/* Schedule run(argument), or *task with its flags, in *d. The caller must hold
 * a reference to *d or run a task of it. The task is placed as
 * sennit_schedule_task_on places it on the domain's scheduler, under the same
 * conditions.
 * Returns 0, or -EINVAL or -ENOMEM as sennit_schedule_task_on does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_schedule(sennit_domain  *d,
						      sennit_task_fn *run,
						      void           *argument);
SENNIT_API SENNIT_MUST_USE int sennit_domain_schedule_task(
	sennit_domain *d, const sennit_task *task);

/* --- the end ------------------------------------------------------------- */

/* Release the caller's reference, and wait until *d has ended, on_end has
 * returned and all clients that were registered before have been notified.
 * Returns 0. On an error the caller still has its reference: -ETIMEDOUT at the
 * deadline, or -ECANCELED if the caller's group is cancelled. It is misuse to
 * call this from a task of *d.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_shutdown(sennit_domain *d,
						      sennit_time    deadline);

/* Register run(argument) to be called when *d has ended: after on_end, in the
 * order of registration, and where that is called. run must not wait. If
 * anything is registered, or a weak handle exists, the domain's memory is freed
 * after that, not before on_end.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is
 * registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_on_end(sennit_domain *d,
						    sennit_end_fn *run,
						    void          *argument);

/* Return a weak handle to *d: it holds no reference, but can be turned into one
 * as long as the domain has not ended. It keeps the domain's memory, which may
 * outlive the scheduler. The caller owns the handle.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE sennit_weak_domain *sennit_domain_weak(
	sennit_domain *d);

/* Add or remove one owner of a weak handle. The last release frees its memory.
 * Returns w if it adds one.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_weak_domain *sennit_weak_domain_retain(sennit_weak_domain *w);
SENNIT_API void sennit_weak_domain_release(sennit_weak_domain *w);

/* Take a reference to the domain, unless it has ended, and store it in *out.
 * Once the call has failed, it always fails.
 * Returns 0, or -ESHUTDOWN if the domain has ended.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_weak_domain_lock(sennit_weak_domain *w,
						       sennit_domain     **out);

/* Like sennit_domain_on_end, by a weak handle. If the domain has ended and all
 * clients have been notified already, run is called before the call returns.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is
 * registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_weak_domain_on_end(sennit_weak_domain *w,
							 sennit_end_fn *run,
							 void *argument);

/* --- where --------------------------------------------------------------- */

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
