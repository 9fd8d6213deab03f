/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - placing many tasks in one step.
 *
 * They go where the first would go alone (place.h), all together, and appear
 * there at once: one store of the deque's bottom, one push into an inbox, one
 * hold of the backlog's lock. Then one look for a sleeper, who has the next one
 * woken if there is more than it can do.
 *
 *	own deque      packed into the free slots, which nobody sees
 *	ring, backlog  packed into the ring, taken back on failure
 *	an inbox       packed into a chain of parcels
 *
 * What can fail comes before what can be seen, so a batch is placed or is not.
 */
#ifndef SN_BATCH_H
#define SN_BATCH_H

#include "worker/worker.h"

/* Queue the tasks on s as if one by one, in their order, in the domain, which
 * may be NULL. 0, -EINVAL or -ENOMEM: none was queued. */
SENNIT_MUST_USE int sn_batch_place(sennit_scheduler     *s,
				   struct sennit_domain *domain,
				   const sennit_task *tasks, size_t count,
				   const char *call);

#endif
