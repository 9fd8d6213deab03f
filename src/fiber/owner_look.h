/* SPDX-License-Identifier: Apache-2.0 */
/* owner_look.h - lets any thread read who holds the lock that a fiber waits
 * for, without touching memory that may be freed.
 *
 *	place   0                        waits for no lock with an owner
 *	        owner word               waits; the lock stays valid
 *	        owner word + LOOKED_AT   a reader reads the owner word
 *
 *	0 --fiber--> owner word --fiber--> 0
 *	               |    ^
 *	               reader
 *
 * A lock must not be freed while a fiber waits for it. So a reader that keeps
 * the fiber in its wait may read the lock. The fiber leaves its wait by a
 * compare-and-set, which fails while a reader looks; it then waits for the few
 * instructions of the reader. Only waits that were linked to the lock's queue
 * pay for this, not locks without contention.
 *
 * Checked by test/model/owner_look.pml.
 */
#ifndef SN_OWNER_LOOK_H
#define SN_OWNER_LOOK_H

#include "base/atomic.h"
#include "base/torture.h"
#include "os/os.h"
#include "sennit/base.h"

#define OWNER_LOOK_LOOKED_AT UINT32_C(1)

struct owner_look {
	a_word place; /* any: see above */
};

static inline void sn_owner_look_init(struct owner_look *l)
{
	a_init(&l->place, 0);
}

/* The calling fiber is about to wait for the lock whose owner is *owner. */
static inline void sn_owner_look_open(struct owner_look *l,
				      sennit_pointer    *owner)
{
	/* -> owner_look.open: the lock */
	a_store_rel(&l->place, (uintptr_t)owner);
}

/* The wait is over: nobody reads the lock through *l after this call. */
static inline void sn_owner_look_close(struct owner_look *l)
{
	/* only a reader changes the mark, and the CAS checks it */
	uintptr_t place = a_load_rlx(&l->place) &
			  ~(uintptr_t)OWNER_LOOK_LOOKED_AT;
	uintptr_t old = place;

	/* <- owner_look.done */
	while (unlikely(!a_cas_weak_acq(&l->place, &old, 0))) {
		if (old != place)
			os_thread_yield();
		old = place;
	}
}

/* Store in *owner who holds the lock that the fiber of *l waits for; NULL: it
 * is not known. Returns false if the fiber does not wait for a lock, or if
 * another reader looks. */
static inline bool sn_owner_look_read(struct owner_look *l, void **owner)
{
	uintptr_t place = a_load_rlx(&l->place); /* a guess; the CAS checks
						  * it */

	if (!place || place & OWNER_LOOK_LOOKED_AT)
		return false;
	/* <- owner_look.open */
	if (!a_cas_acq(&l->place, &place, place | OWNER_LOOK_LOOKED_AT))
		return false;
	TORTURE_POINT();
	/* relaxed: see "Why no cycle is false" in docs/design/wait-graph.md */
	*owner = a_load_rlx((sennit_pointer *)place);
	/* -> owner_look.done: the lock has been read */
	a_store_rel(&l->place, place);
	return true;
}

#endif
