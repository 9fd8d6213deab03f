/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - a task for each directory, which starts one for each entry.
 *
 * Links to files count as files; links to directories are followed only where
 * they are given as roots. What is no file and no directory is skipped with a
 * note.
 */
#ifndef TREESUM_WALK_H
#define TREESUM_WALK_H

#include "job.h"

/* Start on the tree or file at path; done when job->tasks is. */
void walk_start(struct job *job, const char *path);

#endif
