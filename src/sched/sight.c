/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/sight.h"

/* Who changes faster than we read runs: that may be said of it as well. */
#define TRIES 8

static bool look(struct sight *s, sennit_report_entry *e)
{
	uint32_t    doing = a_load_acq(&s->doing);       /* <- sight.look */
	uintptr_t   task = a_load_acq(&s->task);         /* <- sight.look */
	void       *object = a_load_acq(&s->object);     /* <- sight.look */
	sennit_time since = a_load_acq(&s->since);       /* <- sight.look */
	sennit_time deadline = a_load_acq(&s->deadline); /* <- sight.look */

	e->task = (sennit_task_fn *)task;
	if (a_load_rlx(&s->doing) != doing)
		return false;
	e->state = doing & SIGHT_STATE;
	if (e->state == SENNIT_REPORT_RUNNING)
		return true;
	e->waits_for = doing % SIGHT_TIMED >> SIGHT_KIND;
	e->object = e->waits_for ? object : NULL;
	e->since = since;
	e->deadline = doing & SIGHT_TIMED ? deadline : SENNIT_NEVER;
	return true;
}

bool sn_sight_look(struct sight *s, sennit_report_entry *e)
{
	for (int i = 0; i < TRIES; i++)
		if (look(s, e))
			break;
	return e->state != SENNIT_REPORT_RUNNING || e->task;
}
