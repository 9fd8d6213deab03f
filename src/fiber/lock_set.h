/* SPDX-License-Identifier: Apache-2.0 */
/* lock_set.h - holds the queue locks of several objects at once.
 *
 * The locks are taken in the order of their addresses, each once, so that two
 * callers cannot deadlock. While all of them are held, none of the objects can
 * change. So the caller sees all objects in one consistent state, and can add a
 * waiter to all their queues in one step. Only the holder changes a locked
 * word, so the word itself stores the value that it will have after the unlock.
 */
#ifndef SN_LOCK_SET_H
#define SN_LOCK_SET_H

#include "fiber/wait_queue.h"

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
