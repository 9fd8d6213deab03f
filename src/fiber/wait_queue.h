/* SPDX-License-Identifier: Apache-2.0 */
/* wait_queue.h - the wait queue of one primitive, and the word that guards it.
 *
 *	word   { the primitive's bits : 29 | RACED | WAITERS | LOCKED }
 *	list   circular, oldest waiter first; NULL exactly when WAITERS is 0
 *
 * The fast paths of the primitive change the word by compare-and-set while it
 * is not LOCKED. The holder of the lock may store the whole word, and does so
 * once, to unlock. That store is its last access to the primitive, so a waiter
 * that it releases may free the memory at once. Therefore the condition that
 * releases a waiter (for example an event that is set, or a count of zero) must
 * become visible by that same store.
 *
 * The lock is held for a few instructions, never during a wait.
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
#define WAIT_QUEUE_OWN     UINT32_C(8) /* lowest bit of the primitive's own */

/* Number of spins before the thread yields the CPU, because the holder's thread
 * may not be running. */
#define WAIT_QUEUE_SPINS TORTURED(1, 64)

/* Lock, if the word is `old` and not locked. Otherwise wait a little; *spins
 * counts the attempts. */
static inline bool sn_wait_queue_try(sennit_word *word, uint32_t old,
				     uint32_t *spins)
{
	uint32_t seen = old;

	/* <- wait_queue.unlock */
	if (!(old & WAIT_QUEUE_LOCKED) &&
	    a_cas_weak_acq(word, &seen, old | WAIT_QUEUE_LOCKED)) {
		TORTURE_POINT();
		return true;
	}
	a_pause();
	if (++*spins % WAIT_QUEUE_SPINS == 0)
		os_thread_yield();
	return false;
}

/* Lock. Returns the word before, without LOCKED. */
static inline uint32_t sn_wait_queue_lock(sennit_word *word)
{
	uint32_t spins = 0;

	for (;;) {
		uint32_t old = a_load_rlx(word); /* a guess; the CAS checks
						  * it */

		if (sn_wait_queue_try(word, old, &spins))
			return old;
	}
}

/* Unlock, and store `value` (without LOCKED). */
static inline void sn_wait_queue_unlock(sennit_word *word, uint32_t value)
{
	TORTURE_POINT();
	a_store_rel(word, value); /* -> wait_queue.unlock: list, primitive */
	TORTURE_POINT();          /* linked but awake, or claimed but asleep */
}

/* The first waiter of a list that is not empty. */
static inline struct waiter *sn_wait_queue_first(void *list)
{
	return container_of((struct link *)list, struct waiter, link);
}

/* Add n at the back, or at the front if `front`. Returns the bits to set in the
 * word. Lock held. */
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

/* Remove n. Lock held. The caller must then clear bits of the word by
 * sn_wait_queue_bits. */
static inline void sn_wait_queue_leave(void **list, struct waiter *n)
{
	struct link *first = *list;

	sn_link_leave(&first, &n->link);
	*list = first;
	n->is.linked = false;
}

/* The word with its queue bits cleared if the list has become empty. */
static inline uint32_t sn_wait_queue_bits(const void *list, uint32_t word)
{
	return list ? word : word & ~(WAIT_QUEUE_WAITERS | WAIT_QUEUE_RACED);
}

#endif
