/* SPDX-License-Identifier: Apache-2.0 */
/* earlier.h - what fibers did when the events of their ring begin: the task
 * that they had begun, and the wait that they were in.
 *
 * The events of a fiber are read from the first one on. Of the task whose begin
 * is not among them, the first event that tells it is its STATE or its end; or
 * the file's list of fibers has it, which was made when the file was written.
 * Of the wait, it is the RESUME, or the list. Events of a task that nothing
 * tells are left out, and count as lost.
 */
#ifndef APPS_TRACE_EARLIER_H
#define APPS_TRACE_EARLIER_H

#include "trace/file.h"

struct earlier {
	uint32_t ring; /* index of rings */
	uint32_t fiber;
	uint32_t task; /* the name of its function; NONE: it ran no task, or has
			* only waited as a thread */
	uint32_t name; /* what the task calls itself, or NONE */
	uint64_t flow; /* of the wait; 0: it ran */
	uint64_t waited; /* how long before the first event of the ring */
	uint32_t waits_for;
};

/* Joins the parts of waits that went on, too. Returns what was found, by ring;
 * *count is their number. The caller frees it. Events that are left out have no
 * kind afterwards; adds them to *lost. */
struct earlier *earlier_find(struct file *f, uint32_t *count, uint64_t *lost);

#endif
