/* SPDX-License-Identifier: Apache-2.0 */
/* task_cleanup.h - what ends together with a task.
 *
 * A task that has something to end is marked in the `cleanup` word of its
 * fiber. The loop checks this word after each task, and calls this module if it
 * is not 0.
 */
#ifndef SN_TASK_CLEANUP_H
#define SN_TASK_CLEANUP_H

#include "worker/worker.h"

/* The task of f, which runs, has returned with marks: end what they name. May
 * wait. */
COLD void sn_task_cleanup_run(struct sennit_fiber *f);

/* The state of a stack's task while another task runs on the same stack. */
struct task_cleanup_saved {
	uint32_t       cleanup;
	struct locals *locals;
	char           name[SENNIT_NAME_SIZE];
};

/* Whether there is any state to save. */
static inline bool sn_task_cleanup_is_needed(const struct sennit_fiber *f)
{
	return f->cleanup & ~CLEANUP_FP_SHARED || f->locals;
}

/* Call save before another task runs on f, which runs, and restore
 * afterwards. */
COLD void sn_task_cleanup_save(struct sennit_fiber       *f,
			       struct task_cleanup_saved *aside);
COLD void sn_task_cleanup_restore(struct sennit_fiber             *f,
				  const struct task_cleanup_saved *aside);

#endif
