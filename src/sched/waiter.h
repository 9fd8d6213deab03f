/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.h - one wait of one fiber or thread: a record on the waiter's stack.
 *
 *	            claim: WAITING --signaller--> SIGNALLED
 *	                      |
 *	                      +-- home worker's timer --> TIMEDOUT
 *
 * Whoever changes `claim` makes the waiter run, once; the other leaves no
 * trace. Waits without a deadline have one contender only and skip the claim.
 */
#ifndef SN_WAITER_H
#define SN_WAITER_H

#include "base/atomic.h"
#include "base/list.h"
#include "core/timers.h"

/* The deadline of calls that cannot fail: as SENNIT_NEVER, and the wait is not
 * cancelled either. (A caller who means this moment, in 584 years, gets the
 * same.) */
#define SN_UNCANCELLED (SENNIT_NEVER - 1)

enum { WAITER_IDLE = 0, WAITER_WAITING, WAITER_SIGNALLED, WAITER_TIMEDOUT };

/* Where an unbound thread sleeps: one per thread, so that a late wake finds
 * the word still there. */
struct parker {
	a_u32 word; /* any: 1 = go on */
};

struct waiter {
	struct link          link;   /* under the object's queue lock */
	struct sennit_fiber *fiber;  /* fixed; NULL: a thread */
	struct parker       *parker; /* fixed; NULL: a fiber */
	struct timer         timer;  /* owner */
	a_u32                claim;  /* any: the enum above */
	struct waiter_flags {
		bool timed;  /* fixed: has a deadline */
		bool linked; /* under the object's queue lock; timed only */
		bool handed; /* handed: the wake carries ownership */
		bool unused;
	} is;
};

#endif
