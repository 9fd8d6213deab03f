/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - the word of an event, for waits for several objects.
 *
 *	word   { WATCHED | SET | queue bits }
 *
 * A waiter that watches takes nothing. It is woken to look again when the event
 * stays set because no other waiter took it. WATCHED: an auto event may have
 * such waiters.
 */
#ifndef SN_EVENT_H
#define SN_EVENT_H

#include "sched/state.h"
#include "sennit/event.h"

#define EVENT_SET     WAIT_QUEUE_OWN
#define EVENT_WATCHED (WAIT_QUEUE_OWN << 1)

/* The word of *e, which is set, after one waiter has passed it. */
static inline uint32_t sn_event_passed(const sennit_event *e, uint32_t word)
{
	return e->mode_ == SENNIT_EVENT_AUTO ? word & ~EVENT_SET : word;
}

/* Whether the caller may pass: the event is set. Clears an auto event. Returns
 * false while the word is LOCKED, because the setter may still be using the
 * event. */
static inline bool sn_event_pass(sennit_event *e)
{
	uint32_t word = a_load_acq(&e->state_); /* <- event.set */

	while (word & EVENT_SET && !(word & WAIT_QUEUE_LOCKED)) {
		/* <- event.set */
		if (e->mode_ != SENNIT_EVENT_AUTO ||
		    a_cas_weak_acq(&e->state_, &word, word & ~EVENT_SET)) {
			sn_race_acquire(e);
			return true;
		}
	}
	return false;
}

#endif
