/* SPDX-License-Identifier: Apache-2.0 */
/* task_names.h - the names that the program gave to task functions, for
 * reports.
 *
 * One table for the process, lock-free and probed linearly. Functions are never
 * removed: one whose name was taken away has the name NULL.
 */
#ifndef SN_TASK_NAMES_H
#define SN_TASK_NAMES_H

#include "base/atomic.h"
#include "sennit/task.h"

#include <stdbool.h>

/* Twice the maximum number of names, so that a search soon meets a free
 * place. */
#define TASK_NAMES_PLACES (2u * SENNIT_TASK_NAMES)

/* For the search, and for debuggers. */
struct task_names_place {
	a_word function; /* any: 0 until taken, then fixed */
	a_ptr  name;     /* any */
};
extern struct task_names_place sn_task_names_places[TASK_NAMES_PLACES];

/* Name the function; NULL removes its name. Returns false when the table is
 * full.
 */
bool sn_task_names_set(sennit_task_fn *function, const char *name);

/* The name of the function, or NULL. */
const char *sn_task_names_get(sennit_task_fn *function);

#endif
