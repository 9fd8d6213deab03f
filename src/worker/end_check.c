/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/end_check.h"

#include "worker/worker.h"

/* Whether w has work that only its own thread could remove: w is parked, and
 * may not wake while the gate is suspended. Blocked fibers count from before
 * they wait until they run again. So a fiber on its way from a waker to the
 * ready list is never missed. */
static bool has_work(struct worker *w)
{
	/* What the owner did before it left the gate is visible: <- gate.out
	 * there. */
	return sn_worker_blocked(w) > 0 || sn_run_queue_has_ready(&w->run) ||
	       sn_mailbox_has_fibers_besides(&w->mail,
					     sn_recorder_note(&w->recorder)) ||
	       sn_mailbox_has_tasks(&w->mail) || sn_run_queue_has_task(&w->run);
}

static bool found_work(sennit_scheduler *s)
{
	for (uint32_t i = 0; i < s->capacity; i++) {
		struct worker *w = s->workers[i];

		if (has_work(w)) {
			/* `present` is set before the worker works and cleared
			 * afterwards. Only a retired worker has tasks without
			 * it, in the inbox, which others empty. */
			ASSERT(sn_thread_is_present(&w->thread) ||
			       sn_mailbox_has_tasks(&w->mail));
			return true;
		}
	}
	return !sn_backlog_is_empty(&s->backlog); /* visible: <- gate.out there,
						   * too */
}

bool sn_end_check(sennit_scheduler *s)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(&s->gate, found_work(s));
	while (verdict == GATE_AGAIN);
	return verdict == GATE_COMPLETED;
}

bool sn_end_check_sees_active(sennit_scheduler *s)
{
	return sn_gate_active(&s->gate);
}
