/* SPDX-License-Identifier: Apache-2.0 */
/* worker_stacks.h - the stacks of a worker: new ones, idle ones, those given
 * back.
 */
#ifndef SN_WORKER_STACKS_H
#define SN_WORKER_STACKS_H

#include "worker/worker.h"

/* A stack never used before by w; NULL when none can be had. */
COLD struct sennit_fiber *sn_worker_stacks_new(struct worker *w);

/* Put such a stack on the idle list. False: none can be had. */
COLD bool sn_worker_stacks_add(struct worker *w);

/* What the worker's thread, which has just begun, is to run on. */
struct sennit_fiber *sn_worker_stacks_first(struct worker *w);

/* The stack of f, which is in care, is about to be idle. Abort if it has a
 * canary and was overrun. Of a bound thread with a limit on stacks, it is the
 * one that the thread keeps: outside it would give none to those that have
 * none. */
COLD void sn_worker_stacks_check(struct worker *w, struct sennit_fiber *f);

/* An idle or a new stack; NULL when none can be had. */
static inline struct sennit_fiber *sn_worker_stacks_take(struct worker *w)
{
	struct sennit_fiber *f = sn_stack_cache_take(&w->idle_stacks);

	return f ? f : sn_worker_stacks_new(w);
}

/* Give up to `most` idle stacks back to the system, at most STACK_BATCH, but
 * not the last used ones, of which it keeps so many. Returns how many. */
COLD uint32_t sn_worker_stacks_return(struct worker *w, uint32_t keep,
				      uint32_t most);

/* With a limit on stacks: give all idle ones but one back, for others that may
 * have none. Without one, nothing. */
COLD void sn_worker_stacks_share(struct worker *w);

/* w has ended: its stacks go back. */
void sn_worker_stacks_free(struct worker *w);

#endif
