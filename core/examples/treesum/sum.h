/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - a task that computes the SHA-256 of one file. */
#ifndef TREESUM_SUM_H
#define TREESUM_SUM_H

#include "job.h"

/* Sum the file *e by a task, or at once if there is no memory for a task. *e
 * must not move until job->tasks is done. */
void sum_start(struct job *job, struct entry *e);

#endif
