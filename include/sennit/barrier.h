/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - a number of parties that wait for each other, again and again.
 *
 * Phase after phase: when as many have arrived as there are parties, all of
 * them go on and the next phase begins. Any may arrive, there may be more than
 * the number, and they need not be the same in each phase.
 *
 * The bound: a party goes on with the phase that it arrived in, however many
 * arrive later. Of those that are let go none waits for another, also if the
 * worker of that is busy with a task.
 *
 * A party whose deadline passes, or whose group is cancelled, withdraws its
 * arrival: the phase is not broken, it waits for one more again. Whether the
 * phase was complete before that is decided once, in one place: every party of
 * a phase is told the same.
 */
#ifndef SENNIT_BARRIER_H
#define SENNIT_BARRIER_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The most parties. */
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

/* Make *b a barrier for a number of parties. Misuse with none, and beyond
 * SENNIT_BARRIER_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_barrier_init(sennit_barrier *b, uint32_t parties);

/* Declare that *b is no longer used; optional. Misuse while it is waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_barrier_destroy(sennit_barrier *b);

/* Arrive, and wait until all parties have or the deadline passes. With a
 * deadline of 0 only the last party arrives. What all did before they arrived
 * is visible to all who go on. Parties that could withdraw may look at *b until
 * they have returned: then it may be freed.
 * Returns 1 to the party that arrived last, 0 to the others of the phase, also
 * when it was complete just after their deadline; or -ETIMEDOUT or -ECANCELED,
 * and the caller has not arrived.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_barrier_wait_until(sennit_barrier *b,
							 sennit_time deadline);

/* Arrive, and wait until all parties have. When all of a phase wait so, any of
 * them that has returned may free *b at once.
 * Returns whether the caller arrived last: true for one of each phase.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API bool sennit_barrier_wait(sennit_barrier *b);

SENNIT_END

#endif
