/* SPDX-License-Identifier: Apache-2.0 */
/* locks.h - the queue locks of several objects, held at once.
 *
 * They are taken in the order of their addresses, each once, so that two who
 * take several do not wait for each other. While all are held nothing can
 * happen to any of the objects: a look at all is a look at one moment, and a
 * waiter joins all their queues in one step. While it is locked, only the
 * holder changes a word, so what it is to be is kept in the word itself.
 */
#ifndef SN_LOCKS_H
#define SN_LOCKS_H

#include "sched/queue.h"

/* The most objects that one call may wait for. */
enum { LOCKS_MAX = 64 };

struct locks {
	size_t       count; /* different words, sorted */
	sennit_word *words[LOCKS_MAX];
};

/* Add *word to those to be locked, if it is not among them. */
void sn_locks_add(struct locks *l, sennit_word *word);

void sn_locks_take(const struct locks *l);

/* Unlock all; each word becomes as sn_locks_set left it. */
void sn_locks_drop(const struct locks *l);

/* The value that *word, which is locked, will have. */
static inline uint32_t sn_locks_get(sennit_word *word)
{
	/* changes under the lock alone */
	return a_load_rlx(word) & ~QUEUE_LOCKED;
}

static inline void sn_locks_set(sennit_word *word, uint32_t value)
{
	a_store_rlx(word, value | QUEUE_LOCKED);
}

#endif
