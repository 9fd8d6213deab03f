/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - which spawn made which task, and which wait is for which call. */
#ifndef APPS_TRACE_PAIRS_H
#define APPS_TRACE_PAIRS_H

#include "trace/file.h"

/* Returns for each event of f that begins a task or a call the event that it
 * comes from; for all others, and where that is not known, UINT32_MAX. The
 * caller frees the array. */
uint32_t *pairs_find(const struct file *f);

#endif
