/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/fiber_state.h"

/* After this many failed reads, report the fiber as running: a fiber that
 * changes so fast is. */
#define TRIES 8

static bool look(struct fiber_state *s, sennit_report_entry *e)
{
	/* <- fiber_state.read */
	uint32_t doing = a_load_acq(&s->doing);
	/* <- fiber_state.read */
	uintptr_t task = a_load_acq(&s->task);
	/* <- fiber_state.read */
	void *object = a_load_acq(&s->object);
	/* <- fiber_state.read */
	sennit_time since = a_load_acq(&s->since);
	/* <- fiber_state.read */
	sennit_time deadline = a_load_acq(&s->deadline);

	e->task = (sennit_task_fn *)task;
	if (a_load_rlx(&s->doing) != doing)
		return false;
	e->state = doing & FIBER_STATE_STATE;
	if (e->state == SENNIT_REPORT_RUNNING)
		return true;
	e->waits_for = doing % FIBER_STATE_TIMED >> FIBER_STATE_KIND;
	e->object = e->waits_for ? object : NULL;
	e->since = since;
	e->turn = doing / FIBER_STATE_SERIAL;
	e->deadline = doing & FIBER_STATE_TIMED ? deadline : SENNIT_NEVER;
	return true;
}

bool sn_fiber_state_read(struct fiber_state *s, sennit_report_entry *e)
{
	for (int i = 0; i < TRIES; i++)
		if (look(s, e))
			break;
	return e->state != SENNIT_REPORT_RUNNING || e->task;
}
