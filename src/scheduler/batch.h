/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - places many tasks in one step.
 *
 * All tasks go where the first one would go alone (place.h). They appear there
 * at once: by one store of the deque's bottom, one push into an inbox, or one
 * critical section of the backlog. Then the caller looks once for a sleeper. A
 * woken worker wakes the next one if there is more work.
 *
 *	own deque      packed into free slots, which no thief sees yet
 *	ring, backlog  packed into the ring, removed again on failure
 *	an inbox       packed into a chain of parcels
 *
 * All steps that can fail come before the step that makes the tasks visible. So
 * a batch is placed as a whole or not at all.
 */
#ifndef SN_BATCH_H
#define SN_BATCH_H

#include "worker/worker.h"

/* Queue the tasks on s, in order, in `domain`, which may be NULL. `call` names
 * the public call in messages. Returns 0. On -EINVAL or -ENOMEM no task was
 * queued. */
SENNIT_MUST_USE int sn_batch_place(sennit_scheduler     *s,
				   struct sennit_domain *domain,
				   const sennit_task *tasks, size_t count,
				   const char *call);

#endif
