/* SPDX-License-Identifier: Apache-2.0 */
/* lock_set.h - the queue locks of several objects, held at once.
 *
 * They are taken in the order of their addresses, each once, so that two who
 * take several do not wait for each other. While all are held nothing can
 * happen to any of the objects: a look at all is a look at one moment, and a
 * waiter joins all their queues in one step. While it is locked, only the
 * holder changes a word, so what it is to be is kept in the word itself.
 */
#ifndef SN_LOCK_SET_H
#define SN_LOCK_SET_H

#include "fiber/wait_queue.h"

/* The most objects that one call may wait for. */
enum { LOCK_SET_MAX = 64 };

struct lock_set {
	size_t       count; /* different words, sorted */
	sennit_word *words[LOCK_SET_MAX];
};

/* Add *word to those to be locked, if it is not among them. */
void sn_lock_set_add(struct lock_set *l, sennit_word *word);

void sn_lock_set_take(const struct lock_set *l);

/* Unlock all; each word becomes as sn_lock_set_set left it. */
void sn_lock_set_drop(const struct lock_set *l);

/* The value that *word, which is locked, will have. */
static inline uint32_t sn_lock_set_get(sennit_word *word)
{
	/* changes under the lock alone */
	return a_load_rlx(word) & ~WAIT_QUEUE_LOCKED;
}

static inline void sn_lock_set_set(sennit_word *word, uint32_t value)
{
	a_store_rlx(word, value | WAIT_QUEUE_LOCKED);
}

#endif
