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
#include "core/timers.h"

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

#endif
