/* SPDX-License-Identifier: Apache-2.0 */
/* lookout.h - who waits for an object, and what the report says it is. */
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

/* How many fibers and bound threads wait for the object. Whoever locks it after
 * this has seen them finds them in its queue. */
static inline unsigned waiting_for(sennit_scheduler *s, const void *object)
{
	struct lookout l = { .object = object };

	sennit_scheduler_report(s, look_out, &l);
	return l.count;
}

/* What the report says the object is, when somebody waits for it. */
static inline uint32_t said_to_be(sennit_scheduler *s, const void *object)
{
	struct lookout l = { .object = object };

	sennit_scheduler_report(s, look_out, &l);
	return l.kind;
}

#endif
