/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.h - how many wait for a primitive: forces an order, without a guess
 * how long that takes. */
#ifndef SN_TEST_WAITERS_H
#define SN_TEST_WAITERS_H

#include "fiber/wait_queue.h"

/* *word and *list are those of the primitive. */
static inline unsigned waiters_of(sennit_word *word, void *const *list)
{
	uint32_t     value = sn_wait_queue_lock(word);
	struct link *first = *list;
	struct link *at = first;
	unsigned     count = 0;

	while (at) {
		count++;
		at = sn_link_after(at, first);
	}
	sn_wait_queue_unlock(word, value);
	return count;
}

#endif
