/* SPDX-License-Identifier: Apache-2.0 */
/* task_names.h - the names that the program gave to task functions, for
 * reports.
 *
 * One table for the process, lock-free and probed linearly. Functions are never
 * removed: one whose name was taken away has the name NULL.
 */
#ifndef SN_TASK_NAMES_H
#define SN_TASK_NAMES_H

#include "sennit/task.h"

#include <stdbool.h>

/* Name the function; NULL removes its name. Returns false when the table is
 * full.
 */
bool sn_task_names_set(sennit_task_fn *function, const char *name);

/* The name of the function, or NULL. */
const char *sn_task_names_get(sennit_task_fn *function);

#endif
