/* SPDX-License-Identifier: Apache-2.0 */
/* wait_queue.h - the waiters of one primitive, and the word that guards them.
 *
 *	word   { the primitive's own : 29 | RACED | WAITERS | LOCKED }
 *	list   circular, first come first; NULL exactly when WAITERS is clear
 *
 * The primitive's fast paths change the word by compare-and-set while it is not
 * LOCKED; whoever holds the lock may store the whole word, and does so once, to
 * unlock: that store is its last access to the primitive, so a waiter it lets
 * go may free the memory at once. What a waiter takes as its leave to go (an
 * event that is set, a count of zero) must become visible by that same store.
 *
 * The lock is held for a few instructions, never across a wait.
 */
#ifndef SN_WAIT_QUEUE_H
#define SN_WAIT_QUEUE_H

#include "base/atomic.h"
#include "base/torture.h"
#include "os/os.h"
#include "fiber/waiter.h"
#include "sennit/base.h"

#define WAIT_QUEUE_LOCKED  UINT32_C(1)
#define WAIT_QUEUE_WAITERS UINT32_C(2)
#define WAIT_QUEUE_RACED   UINT32_C(4) /* some waiter may be raced */
#define WAIT_QUEUE_BITS    UINT32_C(7)
#define WAIT_QUEUE_OWN     UINT32_C(8) /* the primitive's first bit */

/* Spins before the CPU is given back: the holder's thread may not run. */
#define WAIT_QUEUE_SPINS TORTURED(1, 64)

/* Lock; returns the word as it was, unlocked. */
static inline uint32_t sn_wait_queue_lock(sennit_word *word)
{
	uint32_t spins = 0;

	for (;;) {
		uint32_t old = a_load_rlx(word); /* a guess for the CAS */

		/* <- wait_queue.unlock */
		if (!(old & WAIT_QUEUE_LOCKED) &&
		    a_cas_weak_acq(word, &old, old | WAIT_QUEUE_LOCKED)) {
			TORTURE_POINT();
			return old;
		}
		a_pause();
		if (++spins % WAIT_QUEUE_SPINS == 0)
			os_thread_yield();
	}
}

/* Unlock, leaving the word as given (without LOCKED). */
static inline void sn_wait_queue_unlock(sennit_word *word, uint32_t value)
{
	TORTURE_POINT();
	a_store_rel(word, value); /* -> wait_queue.unlock: list, primitive */
	TORTURE_POINT();          /* linked but awake, or claimed but asleep */
}

/* The first waiter of a list, which is not empty. */
static inline struct waiter *sn_wait_queue_first(void *list)
{
	return container_of((struct link *)list, struct waiter, link);
}

/* Add n at the back, or at the front. Returns the bits to set in the word.
 * Lock held. */
static inline uint32_t sn_wait_queue_join(void **list, struct waiter *n,
					  bool front)
{
	struct link *first = *list;

	sn_link_join(&first, &n->link);
	if (front)
		first = &n->link;
	*list = first;
	n->is.linked = true;
	return n->is.raced ? WAIT_QUEUE_WAITERS | WAIT_QUEUE_RACED
			   : WAIT_QUEUE_WAITERS;
}

/* Take n out. Lock held; the word's bits are sn_wait_queue_bits' afterwards. */
static inline void sn_wait_queue_leave(void **list, struct waiter *n)
{
	struct link *first = *list;

	sn_link_leave(&first, &n->link);
	*list = first;
	n->is.linked = false;
}

/* The word with the bits that the list, from which some have left, deserves. */
static inline uint32_t sn_wait_queue_bits(const void *list, uint32_t word)
{
	return list ? word : word & ~(WAIT_QUEUE_WAITERS | WAIT_QUEUE_RACED);
}

#endif
