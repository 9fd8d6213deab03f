/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - a barrier: a number of parties that wait for each other, phase
 * after phase.
 *
 * When as many callers have arrived as there are parties, they all continue and
 * the next phase begins. Any fiber or thread may arrive. There may be more
 * callers than parties, and they may differ from phase to phase.
 *
 * Bound: a party continues with the phase in which it arrived, however many
 * arrive later. No released party waits for another one, even if the other's
 * worker is busy with a task.
 *
 * A party whose deadline passes, or whose group is cancelled, withdraws its
 * arrival. This does not break the phase: the phase waits for one more party
 * again. Whether the phase was complete before the withdrawal is decided in one
 * atomic step, so all parties of a phase see the same result.
 */
#ifndef SENNIT_BARRIER_H
#define SENNIT_BARRIER_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The largest number of parties. */
#define SENNIT_BARRIER_MAX UINT32_C(0x1fffffff)

typedef struct sennit_barrier {
	sennit_word state_;
	uint32_t    parties_; /* fixed */
	void       *waiters_;
	uint32_t    phase_;
	uint32_t    zero_;
} sennit_barrier;

/* clang-format off */
#define SENNIT_BARRIER_INIT(parties) { { 0 }, (parties), NULL, 0, 0 }
/* clang-format on */

/* Initialise *b as a barrier for `parties` parties. It is misuse to pass 0 or
 * more than SENNIT_BARRIER_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_barrier_init(sennit_barrier *b, uint32_t parties);

/* Declare that *b is no longer used. This call is optional. It is misuse while
 * anyone waits for *b.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_barrier_destroy(sennit_barrier *b);

/* Arrive, and wait until all parties have arrived or the deadline passes. With
 * a deadline of 0 only the last party arrives. What each party did before it
 * arrived is visible to all parties that continue. A party that can withdraw
 * may access *b until its call has returned; free *b after that.
 * Returns 1 to the party that arrived last and 0 to the other parties of the
 * phase, also if the phase became complete just after their deadline. Otherwise
 * it returns -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled, and the caller has not arrived.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_barrier_wait_until(sennit_barrier *b,
							 sennit_time deadline);

/* Arrive, and wait until all parties have arrived. If all parties of a phase
 * use this call, any party whose call has returned may free *b at once.
 * Returns whether the caller arrived last. It is true for one party of each
 * phase.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API bool sennit_barrier_wait(sennit_barrier *b);

SENNIT_END

#endif
