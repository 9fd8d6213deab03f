/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - what happened to an object, and whether it can have happened in
 * some order, one call after the other, as its header says.
 *
 * The check is the one of Wing and Gong (linearizability), with states that
 * were seen kept (Lowe). A wait that has not ended has had no effect; when all
 * threads wait, it must also have nothing to take, or a wake was lost.
 */
#ifndef SN_HISTORY_H
#define SN_HISTORY_H

#include "program.h"

enum { RECORDS = 512 };

enum effect {
	NO_EFFECT,
	SET,
	CLEAR,
	SEEN_SET,
	SEEN_CLEAR,
	AWAITED,  /* of an event, a future, a wait group */
	LOCKED,   /* by `value` */
	UNLOCKED, /* by `value` */
	READ,
	UNREAD,
	TAKEN, /* `value` permits */
	GIVEN,
	SENT, /* `value` */
	RECEIVED,
	CLOSED,
	SENT_TO_CLOSED,
	RECEIVED_NONE, /* closed and empty */
	ADDED,
	DONE,        /* `value`: it made the count zero */
	REFUSED_SET, /* it was set before */
	/* The wait `value`, of `effect`, ended in vain: there was a moment at
	 * which it had nothing to take. */
	IN_VAIN
};

struct record {
	uint8_t  object, actor;
	uint8_t  effect;
	uint8_t  wanted; /* IN_VAIN, and pending waits: the effect */
	int32_t  value;
	uint32_t begin, end; /* end 0: not yet */
	bool     waits;      /* it has no effect before it ends */
	uint32_t settled;    /* when all threads waited, and it did */
};

enum verdict { POSSIBLE, IMPOSSIBLE, UNDECIDED };

/* Whether records[0..count-1] of the object can have happened. `quiet`: all
 * threads wait, so no pending wait may have anything to take. */
enum verdict history_check(const struct object_plan *o, uint8_t object,
			   const struct record *records, size_t count,
			   bool quiet);

/* All threads wait: a waiter that did so the last time, too, and whom a later
 * caller has passed since, although the object serves them in their order; or
 * NULL. Marks those that wait now. */
const struct record *history_passed(const struct object_plan *o, uint8_t object,
				    struct record *records, size_t count,
				    uint32_t now);

void history_print(const struct object_plan *o, uint8_t object,
		   const struct record *records, size_t count);

#endif
