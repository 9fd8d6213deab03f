/* SPDX-License-Identifier: Apache-2.0 */
/* task_cleanup.h - what ends with a task besides itself.
 *
 * Tasks that have something of the kind are marked, by the fiber they run on;
 * the loop looks at one word after each task, and comes here if it is not 0.
 */
#ifndef SN_TASK_CLEANUP_H
#define SN_TASK_CLEANUP_H

#include "worker/worker.h"

/* The task of f, which runs, has returned with marks: end what they say. May
 * wait. */
COLD void sn_task_cleanup_run(struct sennit_fiber *f);

/* What a stack has of its own while another task runs on it. */
struct task_cleanup_saved {
	uint32_t       cleanup;
	struct locals *locals;
	char           name[SENNIT_NAME_SIZE];
};

/* Whether there is anything to put aside. */
static inline bool sn_task_cleanup_is_needed(const struct sennit_fiber *f)
{
	return f->cleanup || f->locals;
}

/* On f, which runs, another task is about to run, and has run. */
COLD void sn_task_cleanup_save(struct sennit_fiber       *f,
			       struct task_cleanup_saved *aside);
COLD void sn_task_cleanup_restore(struct sennit_fiber             *f,
				  const struct task_cleanup_saved *aside);

#endif
