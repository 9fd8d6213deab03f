/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - waits, wakes and resumes of fibers. */
#ifndef APPS_TRACE_WAITS_H
#define APPS_TRACE_WAITS_H

#include "trace/fiber.h"

/* Must be called once, before the others. */
void waits_index(struct replay *r);

void waits_begin(struct replay *r, struct fiber *x, const struct file_event *e);

/* x was waiting when the events of its ring begin. */
void waits_begin_earlier(struct replay *r, struct fiber *x,
			 const struct earlier *e);

/* `waker` wakes the fiber that e names. The flow begins at the mark. */
void waits_wake(struct replay *r, const struct fiber *waker,
		const struct file_event *e, uint32_t mark);

/* x resumes. Afterwards x->mark is the mark of its wake, or NONE. */
void waits_end(struct replay *r, struct fiber *x);

/* The wait of x, if any, has no end in the trace. */
void waits_abandon(struct replay *r, struct fiber *x);

#endif
