/* SPDX-License-Identifier: Apache-2.0 */
/* worker_stacks.h - the stacks of a worker: takes new ones, keeps idle ones,
 * gives stacks back.
 */
#ifndef SN_WORKER_STACKS_H
#define SN_WORKER_STACKS_H

#include "worker/worker.h"

/* Make a fiber on a stack that is new to w. NULL: none is available. */
COLD struct sennit_fiber *sn_worker_stacks_new(struct worker *w);

/* Put such a fiber on the idle list. Returns false if no stack is available. */
COLD bool sn_worker_stacks_add(struct worker *w);

/* The fiber on which the worker's thread, which has just begun, runs. */
struct sennit_fiber *sn_worker_stacks_first(struct worker *w);

/* The stack of f, which has in_care set, is about to become idle. Aborts if its
 * canary was changed. For a bound thread where stacks are limited, only this
 * stack stays with the thread: outside of the scheduler the thread could not
 * give others to workers that have none. */
COLD void sn_worker_stacks_check(struct worker *w, struct sennit_fiber *f);

/* An idle stack or a new one. NULL: none is available. */
static inline struct sennit_fiber *sn_worker_stacks_take(struct worker *w)
{
	struct sennit_fiber *f = sn_stack_cache_take(&w->idle_stacks);

	return f ? f : sn_worker_stacks_new(w);
}

/* Return up to `most` idle stacks, at most STACK_BATCH, to the system, except
 * for the `keep` last used ones. Returns their number. */
COLD uint32_t sn_worker_stacks_return(struct worker *w, uint32_t keep,
				      uint32_t most);

/* Where stacks are limited, give all idle ones except one back, for workers
 * that may have none. Otherwise do nothing. */
COLD void sn_worker_stacks_share(struct worker *w);

/* w has ended: give back all its stacks. */
void sn_worker_stacks_free(struct worker *w);

#endif
