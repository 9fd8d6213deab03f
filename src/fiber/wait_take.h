/* SPDX-License-Identifier: Apache-2.0 */
/* wait_take.h - the signaller's side of a wait queue: unlink waiters and claim
 * them. Who has claimed a waiter must wake it (worker/wake.h). */
#ifndef SN_WAIT_TAKE_H
#define SN_WAIT_TAKE_H

#include "fiber/wait_queue.h"

/* Claim the wait of *whole, which is raced, for its part `part`. A signaller
 * claims before a wake, a waiter before sn_wait_skip. Returns false if another
 * thread was first. A waiter must then sleep until that thread's wake. */
static inline bool sn_waiter_claim_part(struct waiter *whole, uint32_t part)
{
	uint32_t waiting = WAITER_WAITING;

	/* -> wait.claim: what it is woken for <- wait.claim */
	return a_cas_acqrel(&whole->claim, &waiting, WAITER_SIGNALLED + part);
}

/* The same for n, which is or was linked. */
static inline bool sn_waiter_claim(struct waiter *n)
{
	return sn_waiter_claim_part(n->whole, n->part);
}

/* Unlink n and claim it. Returns false if the wait was ended otherwise. The
 * caller must then update the word by sn_wait_queue_bits. Lock held. */
static inline bool sn_wait_take(void **list, struct waiter *n)
{
	sn_wait_queue_leave(list, n);
	return !n->is.raced || sn_waiter_claim(n);
}

/* Unlink and claim the first waiter that still waits. NULL: there is none. The
 * caller must then update the word by sn_wait_queue_bits. Lock held. */
struct waiter *sn_wait_take_next(void **list);

static inline struct waiter *sn_wait_take_one(void **list)
{
	struct waiter *n;

	if (!*list)
		return NULL;
	n = sn_wait_queue_first(*list);
	if (unlikely(n->is.raced))
		return sn_wait_take_next(list);
	sn_wait_queue_leave(list, n);
	return n;
}

/* Unlink and claim all waiters. Returns their chain for sn_wake_all; NULL for
 * none. The list is empty afterwards. `word` is the word's value. Lock held. */
struct link *sn_wait_take_all_raced(void **list);

static inline struct link *sn_wait_take_all(void **list, uint32_t word)
{
	struct link *all = *list;

	if (unlikely(word & WAIT_QUEUE_RACED))
		return sn_wait_take_all_raced(list);
	*list = NULL;
	return all;
}

#endif
