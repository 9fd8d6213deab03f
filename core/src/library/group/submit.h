/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - makes the program's tasks, one or many, into tasks of a scheduler,
 * and places them (sched/place.h), in a domain or in none.
 *
 * The argument of a task is copied if requested: into a block of the pool or,
 * if it is larger, into memory of the allocator. */
#ifndef SN_SUBMIT_H
#define SN_SUBMIT_H

#include "sched/place.h"

struct sennit_domain;

/* Queue t on s, in domain d. `call` names the public call in messages. Returns
 * 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_submit_in(sennit_scheduler *s, struct sennit_domain *d,
				 struct task t, uint32_t flags,
				 const char *call);

/* Queue the program's task on s, in domain d, which may be NULL. Returns 0,
 * -EINVAL or -ENOMEM. */
SENNIT_MUST_USE int sn_submit(sennit_scheduler *s, struct sennit_domain *d,
			      const sennit_task *user, const char *call);

/* Make *t from the program's task, and copy its argument if copy_size is set.
 * Returns 0, -EINVAL or -ENOMEM. */
SENNIT_MUST_USE int sn_submit_pack(sennit_scheduler *s, const sennit_task *user,
				   struct task *t);

/* The same with blocks from *c, or from the depot if c is NULL. */
SENNIT_MUST_USE int sn_submit_pack_from(sennit_scheduler  *s,
					struct pool_cache *c,
					const sennit_task *user,
					struct task       *t);

/* Free the copy that sn_submit_pack made. */
void sn_submit_unpack(sennit_scheduler *s, struct task t);

/* Whether these are valid task flags that may be combined. */
static inline bool sn_submit_are_flags(uint32_t flags)
{
	const uint32_t all = SENNIT_TASK_SAME_THREAD | SENNIT_TASK_BACKGROUND;

	return !(flags & ~all) && flags != all;
}

/* --- batch ---------------------------------------------------------------- */

/* Places many tasks in one step.
 *
 * All tasks go where the first one would go alone (place.h). They appear there
 * at once: by one store of the deque's bottom, one push into an inbox, or one
 * critical section of the backlog. Then the caller looks once for a sleeper. A
 * woken worker wakes the next one if there is more work.
 *
 *	own deque      packed into free slots, which no thief sees yet
 *	ring, backlog  packed into the ring, removed again on failure
 *	an inbox       packed into a chain of queued tasks
 *
 * All steps that can fail come before the step that makes the tasks visible. So
 * a batch is placed as a whole or not at all.
 */

/* Queue the tasks on s, in order, in `domain`, which may be NULL. `call` names
 * the public call in messages. Returns 0. On -EINVAL or -ENOMEM no task was
 * queued. */
SENNIT_MUST_USE int sn_submit_many(sennit_scheduler     *s,
				   struct sennit_domain *domain,
				   const sennit_task *tasks, size_t count,
				   const char *call);

#endif
