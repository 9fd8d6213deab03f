/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - a task for each directory, which starts a task for each entry.
 *
 * Links to files count as files. Links to directories are followed only if they
 * are given as roots. Entries that are neither files nor directories are
 * skipped with a note.
 */
#ifndef TREESUM_WALK_H
#define TREESUM_WALK_H

#include "job.h"

/* Start on the tree or file at path. It is done when job->tasks is done. */
void walk_start(struct job *job, const char *path);

#endif
