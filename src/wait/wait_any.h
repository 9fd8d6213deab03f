/* SPDX-License-Identifier: Apache-2.0 */
/* wait_any.h - waits for the first of several objects that becomes set: events,
 * futures.
 *
 * Each object in turn gets a part of the wait. The thread that sets one of them
 * claims the whole. A waiter that finds an object set while it links the parts
 * claims its own wait. If that claim fails, it takes nothing from the object.
 *
 * An object is set when its word has WAIT_QUEUE_OWN.
 */
#ifndef SN_WAIT_ANY_H
#define SN_WAIT_ANY_H

#include "wait/wait.h"

/* The maximum number of objects in one call. */
enum { WAIT_ANY_MAX = 64 };

/* The wait queue of an object. */
struct wait_any_queue {
	sennit_word *word;
	void       **list;
};

struct wait_any {
	const void *objects; /* the caller's array of pointers */
	size_t      count;   /* 1..WAIT_ANY_MAX */
	const void *first;   /* the first object, for reports */
	struct wait_any_queue (*queue)(const void *objects, size_t i);
	/* The word of object i, which is set, after one waiter has passed
	 * it. */
	uint32_t (*passed)(const void *objects, size_t i, uint32_t word);
};

/* Wait until one object is set. *which becomes its index. Returns 0, -ETIMEDOUT
 * or -ECANCELED. The object that ended the wait may be gone when this
 * returns. */
int sn_wait_any(const struct wait_any *s, size_t *which, sennit_time deadline);

#endif
