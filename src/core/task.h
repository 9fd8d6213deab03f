/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a task as the queues carry it: by value, three words. */
#ifndef SN_TASK_H
#define SN_TASK_H

#include "sennit/task.h"

struct task {
	sennit_task_fn *run;
	void           *argument;
	uintptr_t       meta; /* the scheduler's: how argument is freed */
};

#endif
