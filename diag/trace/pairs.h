/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - finds the spawn of each task, and the wait of each blocking
 * call. */
#ifndef APPS_TRACE_PAIRS_H
#define APPS_TRACE_PAIRS_H

#include "trace/file.h"

/* Return an array with, for each event of f that begins a task or a call, the
 * event from which it comes; UINT32_MAX for all others and where that is not
 * known. The caller frees the array. */
uint32_t *pairs_find(const struct file *f);

#endif
