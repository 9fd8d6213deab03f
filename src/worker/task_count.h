/* SPDX-License-Identifier: Apache-2.0 */
/* task_count.h - tells the end of a scheduler that a task begins to exist or
 * has ended. The gate need not know, so nothing is done here. Builds with
 * SENNIT_END=count have src/end/count/worker/task_count.h instead.
 */
#ifndef SN_TASK_COUNT_H
#define SN_TASK_COUNT_H

#include "core/task.h"
#include "worker/worker.h"

/* n tasks with this meta are about to be queued on s. Called before they can be
 * found, by a caller that keeps s alive. */
static inline void sn_task_count_add(sennit_scheduler *s, uintptr_t meta,
				     uint32_t n)
{
	(void)s;
	(void)meta;
	(void)n;
}

/* They could not be queued. */
static inline void sn_task_count_drop(sennit_scheduler *s, uintptr_t meta,
				      uint32_t n)
{
	(void)s;
	(void)meta;
	(void)n;
}

/* A task with this meta that ran on w has ended, and so has all that belongs to
 * it. */
static inline void sn_task_count_end(struct worker *w, uintptr_t meta)
{
	(void)w;
	(void)meta;
}

/* The meta of a task that its spawner joins, in a scope or NULL. */
static inline uintptr_t sn_task_count_joined(
	const struct sennit_cancel_scope *scope)
{
	return scope ? sn_task_inside(scope) : TASK_BORROWED;
}

#endif
