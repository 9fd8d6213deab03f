/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/recorder.h"

#include "os/os.h"

void sn_recorder_tell(struct recorder *r, struct mailbox *mail)
{
	/* -> recorder.told: whether recording is on <- recorder.told: the note
	 * is free */
	if (!a_swap_acqrel(&r->told, 1))
		sn_mailbox_put_fibers(mail, &r->note, &r->note);
}

struct node *sn_recorder_take_note(struct recorder *r, struct node *first,
				   struct node **last)
{
	if (!sn_chain_remove(&first, last, &r->note))
		return first;
	/* -> recorder.told: the note is free <- recorder.told: whether
	 * recording is on */
	(void)a_swap_acqrel(&r->told, 0);
	return first;
}

bool sn_recorder_look(struct recorder *r)
{
	bool on = a_load_acq(r->on); /* <- trace.on */
	bool records = r->home->observed & OBSERVE_TRACE;

	if (on == records)
		return on;
	if (on && !r->ring)
		r->ring = a_load_acq(&r->given); /* <- trace.given */
	if (!r->ring)
		return false;
	if (on) {
		a_store_rlx(&r->ring->thread, os_thread_id());
		sn_trace_ring_begin(r->ring);
	}
	sn_recorder_add(r, on ? SENNIT_TRACED_START : SENNIT_TRACED_STOP, 0, 0,
			0);
	return on;
}

void sn_recorder_add(struct recorder *r, uint32_t kind, uint32_t detail,
		     uint64_t a, uint64_t b)
{
	sn_trace_ring_add(r->ring, r->home->current->id, kind, detail, a, b);
}
