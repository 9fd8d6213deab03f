/* SPDX-License-Identifier: Apache-2.0 */
/* lookout.h - which fibers and threads wait for an object, and what kind of
 * object it is, according to the report. */
#ifndef SN_TEST_LOOKOUT_H
#define SN_TEST_LOOKOUT_H

#include "with_workers.h"

struct lookout {
	const void *object;
	unsigned    count;
	uint32_t    kind; /* enum sennit_waits_for */
};

static inline void look_out(void *context, const sennit_report_entry *e)
{
	struct lookout *l = context;

	if (e->state != SENNIT_REPORT_BLOCKED || e->object != l->object)
		return;
	l->count++;
	l->kind = e->waits_for;
}

/* The number of fibers and bound threads that wait for the object. A caller
 * that locks the object afterwards finds them in its queue. */
static inline unsigned waiting_for(sennit_scheduler *s, const void *object)
{
	struct lookout l = { .object = object };

	sennit_scheduler_report(s, look_out, &l);
	return l.count;
}

/* The kind of the object in the report. There must be a waiter. */
static inline uint32_t said_to_be(sennit_scheduler *s, const void *object)
{
	struct lookout l = { .object = object };

	sennit_scheduler_report(s, look_out, &l);
	return l.kind;
}

#endif
