/* SPDX-License-Identifier: Apache-2.0 */
/* earlier.h - finds what fibers did when the events of their ring begin: the
 * task that they had begun, and the wait that they were in.
 *
 * The events of a fiber are read from the first one on. A task whose begin is
 * not among them is named by its STATE or its end, whichever comes first, or by
 * the file's list of fibers, which was made when the file was written. A wait
 * is named by its RESUME, or by the list. Events of a task that cannot be named
 * are left out, and count as lost.
 */
#ifndef APPS_TRACE_EARLIER_H
#define APPS_TRACE_EARLIER_H

#include "trace/file.h"

struct earlier {
	uint32_t ring; /* index of rings */
	uint32_t fiber;
	uint32_t task;   /* name of its function; NONE: it ran no task, or only
		        * waited as a thread */
	uint32_t name;   /* the name that the task has set, or NONE */
	uint64_t flow;   /* of the wait; 0: it ran */
	uint64_t waited; /* time that it had waited before the first event of
			  * the ring */
	uint32_t waits_for;
};

/* Also joins the parts of waits. Returns what was found, by ring; *count is its
 * number. The caller frees it. Events that are left out have kind NONE
 * afterwards; their number is added to *lost. */
struct earlier *earlier_find(struct file *f, uint32_t *count, uint64_t *lost);

#endif
