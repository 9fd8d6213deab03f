/* SPDX-License-Identifier: Apache-2.0 */
/* wait_any.h - waiting for one of several objects, and locking several of them
 * at once. */
#ifndef SN_WAIT_ANY_H
#define SN_WAIT_ANY_H

#include "wait/wait.h"

/* --- wait any ------------------------------------------------------------- */

/* Waits for the first of several objects that becomes set: events, futures.
 *
 * Each object in turn gets a part of the wait. The thread that sets one of them
 * claims the whole. A waiter that finds an object set while it links the parts
 * claims its own wait. If that claim fails, it takes nothing from the object.
 *
 * An object is set when its word has WAIT_QUEUE_OWN.
 */

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

/* --- lock set ------------------------------------------------------------- */

/* Holds the queue locks of several objects at once.
 *
 * The locks are taken in the order of their addresses, each once, so that two
 * callers cannot deadlock. While all of them are held, none of the objects can
 * change. So the caller sees all objects in one consistent state, and can add a
 * waiter to all their queues in one step. Only the holder changes a locked
 * word, so the word itself stores the value that it will have after the unlock.
 */

/* The maximum number of objects in one call. */
enum { LOCK_SET_MAX = 64 };

struct lock_set {
	size_t       count; /* number of different words; they are sorted by
			     * address */
	sennit_word *words[LOCK_SET_MAX];
};

/* Add *word to the set, unless it is already in it. */
void sn_lock_set_add(struct lock_set *l, sennit_word *word);

void sn_lock_set_take(const struct lock_set *l);

/* Unlock all. Each word gets the value that sn_lock_set_set stored. */
void sn_lock_set_drop(const struct lock_set *l);

/* The value that *word, which is locked, will have after the unlock. */
static inline uint32_t sn_lock_set_get(sennit_word *word)
{
	/* not raced: only the lock's holder changes it */
	return a_load_rlx(word) & ~WAIT_QUEUE_LOCKED;
}

static inline void sn_lock_set_set(sennit_word *word, uint32_t value)
{
	a_store_rlx(word, value | WAIT_QUEUE_LOCKED);
}

#endif
