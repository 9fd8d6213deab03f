/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.h - the number of waiters of a primitive. A test uses it to force an
 * order without guessing times. */
#ifndef SN_TEST_WAITERS_H
#define SN_TEST_WAITERS_H

#include "wait/wait.h"

/* *word and *list are the primitive's. */
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
