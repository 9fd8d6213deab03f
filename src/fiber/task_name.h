/* SPDX-License-Identifier: Apache-2.0 */
/* task_name.h - the name that a running task has given itself.
 *
 *	version   odd: being written      words   its letters, and a 0
 *
 * A copy, in the fiber's record, so that a report on another thread may read it
 * whatever the task does: records stay mapped as long as the scheduler lives.
 * The owner writes; who reads looks at the version before and after. As in
 * fiber_state.h no fence is needed: words are stored with release and read with
 * acquire, so who sees one of a new name sees that the version has changed.
 */
#ifndef SN_TASK_NAME_H
#define SN_TASK_NAME_H

#include "base/atomic.h"
#include "sennit/task.h"

#define TASK_NAME_WORDS (SENNIT_NAME_SIZE / 8)

struct task_name {
	a_u32 version; /* owner writes */
	a_u64 words[TASK_NAME_WORDS];
};

/* Write the name, cut to what fits; "" for none. */
void sn_task_name_write(struct task_name *tag, const char *name);

/* Read it. False: there is none, or it is just being written. */
bool sn_task_name_read(struct task_name *tag, char name[SENNIT_NAME_SIZE]);

#endif
