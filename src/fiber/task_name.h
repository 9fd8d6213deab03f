/* SPDX-License-Identifier: Apache-2.0 */
/* task_name.h - the name that a running task has given itself.
 *
 *	version   odd while being written      words   characters, zero-padded
 *
 * The name is copied into the fiber's record. So a report on another thread can
 * read it whatever the task does: records stay mapped as long as the scheduler
 * lives. Only the owner writes. A reader reads the version before and after the
 * words. As in fiber_state.h no fence is needed: words are stored with release
 * and read with acquire, so a reader that sees a word of a new name also sees
 * the new version.
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

/* Store the name, cut to SENNIT_NAME_SIZE - 1 bytes; "" removes it. */
void sn_task_name_write(struct task_name *tag, const char *name);

/* Read the name. Returns false if there is none, or if it is being written. */
bool sn_task_name_read(struct task_name *tag, char name[SENNIT_NAME_SIZE]);

#endif
