/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/end_check.h"

#include "worker/worker.h"

/* Zero references and tasks: there is nothing to look for. */
bool sn_end_check(sennit_scheduler *s)
{
	CHECK(sn_gate_is_done(&s->gate), "a scheduler that ended goes on");
	return true;
}

bool sn_end_check_sees_active(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		const struct worker *w = s->workers[i];

		if (sn_thread_is_present(&w->thread) &&
		    !sn_parking_is_asleep(&w->sleeper))
			return true;
	}
	return false;
}
