/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.h - the number of waiters of a primitive. A test uses it to force an
 * order without guessing times. */
#ifndef SN_TEST_WAITERS_H
#define SN_TEST_WAITERS_H

#include "wait/waiter.h"
#include "sched/bias.h"

/* *word and *list are the primitive's. Nobody waits for a mutex that is one
 * worker's own: see biased.h. */
static inline unsigned waiters_of(sennit_word *word, void *const *list)
{
	uint32_t     value, spins = 0;
	struct link *first, *at;
	unsigned     count = 0;

	do {
		value = a_load_rlx(word);
		if (value & BIASED)
			return 0;
	} while (!sn_wait_queue_try(word, value, &spins));
	first = *list;
	at = first;
	while (at) {
		count++;
		at = sn_link_after(at, first);
	}
	sn_wait_queue_unlock(word, value);
	return count;
}

#endif
