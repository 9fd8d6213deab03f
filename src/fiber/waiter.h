/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.h - one wait of one fiber or thread: a record on the waiter's stack.
 *
 *	            claim: WAITING --signaller--> SIGNALLED + part
 *	                      |
 *	                      +-- home worker's timer --> TIMEDOUT
 *	                      +-- whoever cancels its scope --> CANCELLED
 *
 * Whoever changes `claim` makes the waiter run, once; the others leave no
 * trace. A wait that only its object's signaller can end skips the claim.
 *
 * A wait for one of several objects has a record for each, its parts, and one
 * for the whole, which has the claim and the alarm and is linked to nothing.
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
	WAITER_SIGNALLED /* and above: by which part */
};

struct sennit_cancel_scope;
struct worker;

/* Where an unbound thread sleeps: one per thread, so that a late wake finds
 * the word still there. */
struct parker {
	a_u32 word; /* any: 1 = go on */
};

/* The deadline of a fiber's wait. Apart from the waiter, which lies on a page
 * of its own: the wheel moves alarms that are far from due, and would miss
 * caches and translations for each of them. */
struct alarm {
	struct timer         timer;  /* owner */
	struct waiter       *waiter; /* owner: the whole */
	struct sennit_fiber *fiber;  /* owner */
};

struct waiter {
	struct link          link;   /* under the object's queue lock */
	struct sennit_fiber *fiber;  /* fixed; NULL: a thread */
	struct worker       *home;   /* fixed: the fiber's; NULL: a thread */
	struct parker       *parker; /* fixed; NULL: a fiber */
	struct waiter_flags {
		bool raced;    /* fixed: the claim decides who ends it */
		bool linked;   /* under the object's queue lock; raced only */
		bool enlisted; /* under the scope's lock; with a scope only */
		bool handed;   /* handed: the wake carries ownership */
		bool watches;  /* fixed: wakes to look again, takes nothing */
	} is;

	/* Raced only: */
	a_u32          claim; /* any: the enum above; of the whole */
	uint32_t       part;  /* fixed: which of several this is */
	struct waiter *whole; /* fixed: whose claim decides; itself alone */
	struct sennit_cancel_scope
		   *scope;    /* fixed: may cancel it; NULL: none */
	struct link enlisted; /* under the scope's lock */
};

#endif
