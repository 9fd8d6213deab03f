/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group_count.h - the count of a wait group: the bits of its word above
 * the queue bits.
 *
 * The same store makes the count zero and clears WAITERS and LOCKED. So a
 * thread that sees the whole word zero may free the wait group: the calls that
 * led to zero do not access it any more.
 */
#ifndef SN_WAIT_GROUP_COUNT_H
#define SN_WAIT_GROUP_COUNT_H

#include "fiber/wait_take.h"
#include "sennit/wait_group.h"
#include "worker/wake.h"

#define WAIT_GROUP_ONE WAIT_QUEUE_OWN

/* Add n. Aborts above SENNIT_WAIT_GROUP_MAX. `call` names the public call. */
void sn_wait_group_add(sennit_wait_group *g, uint32_t n, const char *call);

/* Subtract one, and release the waiters if the count becomes zero. Aborts below
 * zero. Returns whether this call made the count zero; *g may then be gone. */
bool sn_wait_group_done_slow(sennit_wait_group *g);

static ALWAYS_INLINE bool sn_wait_group_done(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_);

	/* -> wait_group.done: the work <- wait_group.done: the others' */
	if (word < 2 * WAIT_GROUP_ONE || word & WAIT_QUEUE_LOCKED ||
	    !a_cas_weak_acqrel(&g->state_, &word, word - WAIT_GROUP_ONE))
		return sn_wait_group_done_slow(g);
	return false;
}

/* The caller holds the lock and makes the count zero: the same store releases
 * the waiters that `word` tells of. *g may be gone on return. */
static ALWAYS_INLINE void sn_wait_group_finish_locked(sennit_wait_group *g,
						      uint32_t           word)
{
	struct link *waiters = sn_wait_take_all(&g->waiters_, word);

	sn_wait_queue_unlock(&g->state_, 0);
	sn_wake_all(waiters);
}

#endif
