/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.h - the count of a wait group: the bits of its word above
 * the queue bits, and what the owner of the wait group keeps apart.
 *
 *	state_   { count : 29 | RACED | WAITERS | LOCKED }   any
 *	kept_    { count : 14 | ENDING | KEPT }              the owner writes
 *
 * The two are read one after the other, and the owner moves its count to the
 * word under the lock. So their sum is a count only with the lock; without it
 * nothing is judged but the word.
 *
 * The owner is the fiber on whose stack the wait group lies. It counts the
 * tasks that it ties without a locked instruction, in kept_. If another fiber
 * or thread ends one of them, it counts that in state_, which may thereby fall
 * below zero. The sum is the count. As long as KEPT was never set, state_ alone
 * is the count.
 *
 * The same store makes the count zero and clears WAITERS and LOCKED. So a
 * thread that sees a count of zero without LOCKED may free the wait group: the
 * calls that led to zero do not access it any more.
 *
 *	owner    kept_ |= ENDING; state_ zero? kept_ = KEPT
 *	others   lock; process barrier; until no ENDING; the sum zero?
 *
 * The first two steps of the owner are not fenced; the barrier of the others
 * is. So either they see ENDING, and wait until the owner has stored kept_ or
 * seen LOCKED, or the owner will see what they leave in state_. They need the
 * barrier only if they leave a waiter, and state_ counts no task whose end
 * would check again. See core/docs/design/groups.md. Checked by
 * core/test/model/keep.pml.
 */
#ifndef SN_WAIT_GROUP_H
#define SN_WAIT_GROUP_H

#include "sched/state.h"
#include "sennit/wait_group.h"

#define WAIT_GROUP_ONE WAIT_QUEUE_OWN

/* Of kept_. */
#define WAIT_GROUP_KEPT     1u
#define WAIT_GROUP_ENDING   2u
#define WAIT_GROUP_KEPT_ONE 4u
#define WAIT_GROUP_KEPT_MAX (UINT16_MAX / WAIT_GROUP_KEPT_ONE)

/* What kept_ counts, in units of WAIT_GROUP_ONE. */
static inline uint32_t sn_wait_group_kept(uint32_t kept)
{
	return kept / WAIT_GROUP_KEPT_ONE * WAIT_GROUP_ONE;
}

/* The count that the word and kept_ amount to, in the same units. */
static inline uint32_t sn_wait_group_sum(uint32_t word, uint32_t kept)
{
	return (word & ~WAIT_QUEUE_BITS) + sn_wait_group_kept(kept);
}

/* Whether the count is below about half of SENNIT_WAIT_GROUP_MAX, whatever is
 * kept. Only if `kept` is not zero can the word be below zero, by at most
 * WAIT_GROUP_KEPT_MAX. A late `kept` is harmless: the caller then locks. */
static ALWAYS_INLINE bool sn_wait_group_has_room(uint32_t word, uint32_t kept)
{
	const uint32_t below = WAIT_GROUP_KEPT_MAX * WAIT_GROUP_ONE;

	return likely((int32_t)word >= 0) ||
	       (kept && (int32_t)(word + below) >= 0);
}

/* Return the count, in units of WAIT_GROUP_ONE, if the word becomes `word`. If
 * it is not zero and there is a waiter, or `waits` says that there will be one,
 * the owner will see the word before it makes the count zero. Lock held. */
static inline uint32_t sn_wait_group_look(sennit_wait_group *g, uint32_t word,
					  bool waits);
uint32_t sn_wait_group_look_at_kept(sennit_wait_group *g, uint32_t word,
				    bool waits);

/* Add n. The ends of kept tasks may have brought the word below zero.
 * Aborts above SENNIT_WAIT_GROUP_MAX. `call` names the public call. */
void sn_wait_group_add(sennit_wait_group *g, uint32_t n, const char *call);

/* Subtract one, and release the waiters if the count becomes zero. Aborts below
 * zero. Returns whether this call made the count zero; *g may then be gone. */
bool sn_wait_group_done_slow(sennit_wait_group *g);

/* With a word of two or more the count is not zero afterwards, whatever is
 * kept. */
static ALWAYS_INLINE bool sn_wait_group_done(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_);

	sn_race_release(g);
	/* -> wait_group.done: the work <- wait_group.done: the others' */
	if ((int32_t)word < (int32_t)(2 * WAIT_GROUP_ONE) ||
	    word & WAIT_QUEUE_LOCKED ||
	    !a_cas_weak_acqrel(&g->state_, &word, word - WAIT_GROUP_ONE))
		return sn_wait_group_done_slow(g);
	return false;
}

/* May be stale, but shows every tie that happened before the end of that task,
 * and before the caller received the wait group. */
static inline uint32_t sn_wait_group_look(sennit_wait_group *g, uint32_t word,
					  bool waits)
{
	if (likely(!a_load_rlx(&g->kept_)))
		return word & ~WAIT_QUEUE_BITS;
	return sn_wait_group_look_at_kept(g, word, waits);
}

#endif
