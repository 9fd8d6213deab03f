/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - parts of a scheduler's work that end by themselves, as a scheduler
 * does.
 *
 *	create --> schedule, schedule, ... --> release
 *	                 all done, nobody holds it ----> told, once
 *
 * A domain is a reference-counted set of tasks. It ends when nobody holds a
 * reference and all its tasks have ended, those that wait included; then its
 * owner is told. No task is counted where workers share, so a domain costs its
 * tasks next to nothing, however many workers there are.
 *
 * What a task of a domain schedules by sennit_schedule and its like
 * (sennit_schedule_copy, _task, _many) belongs to the same domain, and so does
 * what the members of its groups schedule, and what they schedule. By
 * sennit_enqueue, which names a scheduler, it schedules outside. Continuations
 * of futures and tickets belong to no domain.
 *
 * A domain differs from a group: nobody waits in it for the others, its tasks
 * may outlive the one that started them, and it is not cancelled.
 */
#ifndef SENNIT_DOMAIN_H
#define SENNIT_DOMAIN_H

#include "sennit/end.h"
#include "sennit/task.h"

SENNIT_BEGIN

typedef struct sennit_domain sennit_domain;

/* Make a domain of *s and store it in *out; the caller owns one reference.
 * on_end(argument) is called when it has ended, once, if it is not NULL: on the
 * worker whose task was last, between two tasks, or by whoever released last,
 * before sennit_domain_release returns. Then nothing of the domain is left. It
 * must not wait. The domain holds a reference to *s until that has returned.
 * Memory: 128 bytes for each worker that *s may have, and 128 more.
 * Returns 0 or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_create(sennit_domain   **out,
						    sennit_scheduler *s,
						    sennit_end_fn    *on_end,
						    void             *argument);

/* Take another reference to *d, which the caller holds one of, or runs a task
 * of: also when that task is all that keeps the domain.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_domain_retain(sennit_domain *d);

/* Give a reference back. The last one lets the domain end when its work is
 * done; *d may be gone when this returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_domain_release(sennit_domain *d);

/* Schedule run(argument), or *task with its flags, in *d, of which the caller
 * holds a reference or runs a task: placed as sennit_enqueue places on the
 * domain's scheduler, under the same conditions.
 * Returns 0, -EINVAL or -ENOMEM as sennit_enqueue does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_domain_schedule(sennit_domain  *d,
						      sennit_task_fn *run,
						      void           *argument);
SENNIT_API SENNIT_MUST_USE int sennit_domain_schedule_task(
	sennit_domain *d, const sennit_task *task);

/* The domain that the calling task belongs to; NULL: none. Takes no reference.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_domain *sennit_domain_current(void);

/* The scheduler of *d. Takes no reference.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_scheduler *sennit_domain_scheduler(const sennit_domain *d);

SENNIT_END

#endif
