/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.h - one wait of one fiber or thread: a record on the waiter's stack.
 *
 *	            claim: WAITING --signaller--> SIGNALLED + part
 *	                      |
 *	                      +-- home worker's timer --> TIMEDOUT
 *	                      +-- cancel of its scope --> CANCELLED
 *
 * The thread that changes `claim` makes the waiter run, exactly once; the
 * others do nothing. A wait that only its object's signaller can end skips the
 * claim.
 *
 * A wait for one of several objects has one record per object (its parts) and
 * one record for the whole. The whole has the claim and the alarm, and is in no
 * queue.
 */
#ifndef SN_WAITER_H
#define SN_WAITER_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"
#include "core/timers.h"
#include "os/os.h"
#include "sennit/base.h"

/* The deadline of calls that cannot fail. */
#define SN_UNCANCELLED SENNIT_UNCANCELLED

enum {
	WAITER_IDLE = 0,
	WAITER_WAITING,
	WAITER_TIMEDOUT,
	WAITER_CANCELLED,
	WAITER_SIGNALLED /* this value and above: signalled by part (value -
			  * WAITER_SIGNALLED) */
};

struct sennit_cancel_scope;
struct worker;

/* Nobody's worker, and not that of an unbound thread either, NULL. */
#define WAITER_NO_HOME ((struct worker *)(uintptr_t)8)

/* The word on which an unbound thread sleeps. There is one per thread, so that
 * a late wake finds the word still valid. */
struct parker {
	a_u32 word; /* any: 1: continue */
};

/* The deadline of a fiber's wait. It is separate from the waiter, because each
 * waiter lies on a page of its own. The timing wheel moves alarms long before
 * they are due, and would have a cache miss and a TLB miss for each. */
struct alarm {
	struct timer         timer;  /* owner */
	struct waiter       *waiter; /* owner: the whole */
	struct sennit_fiber *fiber;  /* owner */
};

struct waiter {
	struct link          link;   /* under the object's queue lock */
	struct sennit_fiber *fiber;  /* fixed; NULL: a thread */
	struct worker       *home;   /* fixed: the fiber's; a thread has
				      * WAITER_NO_HOME */
	struct parker       *parker; /* fixed; NULL for a fiber */
	struct waiter_flags {
		bool raced;    /* fixed: several threads may end the wait; the
			        * claim decides */
		bool linked;   /* under the object's queue lock; raced only */
		bool enlisted; /* under the scope's lock; with a scope only */
		bool handed;   /* handed: the wake transfers ownership */
		bool watches;  /* fixed: the wake only makes it look again and
			        * transfers nothing */
	} is;

	/* Only for raced waits: */
	a_u32          claim; /* any: the enum above; used in the whole */
	uint32_t       part;  /* fixed: index among the parts */
	struct waiter *whole; /* fixed: the record whose claim decides; for a
			       * single wait, itself */
	struct sennit_cancel_scope
		   *scope;    /* fixed: may cancel it; NULL: none */
	struct link enlisted; /* under the scope's lock */
};

/* --- wait queue ----------------------------------------------------------- */

/* The wait queue of one primitive, and the word that guards it.
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

/* --- wait take ------------------------------------------------------------ */

/* The signaller's side of a wait queue: unlink waiters and claim them. Who has
 * claimed a waiter must wake it (wait/wake.h). */

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
