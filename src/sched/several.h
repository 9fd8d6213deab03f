/* SPDX-License-Identifier: Apache-2.0 */
/* several.h - waits for the first of several objects that are set: events,
 * futures.
 *
 * A part of the wait is linked to each object in turn. What sets one of them
 * claims the whole; a waiter that finds an object set while it links the parts
 * claims its own, and if it comes too late for that takes nothing.
 *
 * An object is set when its word has QUEUE_OWN.
 */
#ifndef SN_SEVERAL_H
#define SN_SEVERAL_H

#include "sched/wait.h"

/* The most objects that one call may wait for. */
enum { SEVERAL_MAX = 64 };

/* Where the waiters of an object are. */
struct several_queue {
	sennit_word *word;
	void       **list;
};

struct several {
	const void *objects; /* the caller's array of pointers */
	size_t      count;   /* 1..SEVERAL_MAX */
	const void *first;   /* the first object, for reports */
	struct several_queue (*queue)(const void *objects, size_t i);
	/* The word of object i, which is set, after one caller passed. */
	uint32_t (*passed)(const void *objects, size_t i, uint32_t word);
};

/* Wait until one is set; *which: its index. Returns 0, -ETIMEDOUT or
 * -ECANCELED. The object that ended the wait may be gone then. */
int sn_several_wait(const struct several *s, size_t *which,
		    sennit_time deadline);

#endif
