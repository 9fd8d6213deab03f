/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what the program calls its functions, for reports.
 *
 * One table for the process, lock-free, probed linearly. Functions never leave
 * it: one whose name was taken away has NULL there.
 */
#ifndef SN_TASK_NAMES_H
#define SN_TASK_NAMES_H

#include "sennit/task.h"

#include <stdbool.h>

/* Call the function so from now on; NULL: no longer. False: the table is full.
 */
bool sn_task_names_set(sennit_task_fn *function, const char *name);

/* What the function is called, or NULL. */
const char *sn_task_names_get(sennit_task_fn *function);

#endif
