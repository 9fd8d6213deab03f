/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.c - the bits of the word above the queue bits count the arrivals.
 *
 * The queue's lock decides whether a phase is complete, not the claims. A
 * waiter whose deadline passed takes the lock again. It then finds that the
 * phase in which it was counted has ended, or it subtracts itself from the
 * count. So the end of a phase is the end for each waiter that was counted,
 * even if its deadline had passed and it was no longer linked.
 */
#include "base/compiler.h"
#include "wait/wait.h"
#include "sennit/barrier.h"

#include <errno.h>

#define ARRIVAL WAIT_QUEUE_OWN

_Static_assert(SENNIT_BARRIER_MAX == UINT32_MAX / ARRIVAL,
	       "the count fills the word's own bits");
_Static_assert(sizeof(sennit_barrier) == 4 * sizeof(uint32_t) + sizeof(void *),
	       "a barrier is three words");

void sennit_barrier_init(sennit_barrier *b, uint32_t parties)
{
	MISUSE(!parties || parties > SENNIT_BARRIER_MAX, "sennit_barrier_init",
	       "the number of parties is 0 or above SENNIT_BARRIER_MAX");
	a_init(&b->state_, 0);
	b->parties_ = parties;
	b->waiters_ = NULL;
	b->phase_ = 0;
	b->zero_ = 0;
}

void sennit_barrier_destroy(sennit_barrier *b)
{
	MISUSE(a_load_rlx(&b->state_), "sennit_barrier_destroy",
	       "a fiber or thread still waits at the barrier");
}

/* The last party has arrived. Lock held. */
static void end_phase(sennit_barrier *b, uint32_t word)
{
	struct link *waiters = sn_wait_take_all(&b->waiters_, word);

	sn_race_acquire(b);
	b->phase_++;
	sn_wait_queue_unlock(&b->state_, 0);
	sn_wake_all(waiters);
}

/* Take back an arrival in the phase, unless the phase has ended. */
static int withdraw_arrival(sennit_barrier *b, uint32_t phase, int err)
{
	const uint32_t word = sn_wait_queue_lock(&b->state_);
	const bool     ended = b->phase_ != phase;

	if (ended)
		sn_race_acquire(b);
	sn_wait_queue_unlock(&b->state_, ended ? word : word - ARRIVAL);
	return ended ? 0 : err;
}

static int arrive_at_barrier(sennit_barrier *b, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word, phase;
	int            err;

	MISUSE(!b->parties_, "sennit_barrier_wait",
	       "the barrier has no parties");
	n = sn_waiter_own(deadline);
	sn_race_release(b);
	word = sn_wait_queue_lock(&b->state_);
	if (word / ARRIVAL + 1 == b->parties_) {
		end_phase(b, word);
		return 1;
	}
	if (!deadline) {
		sn_wait_queue_unlock(&b->state_, word);
		return -ETIMEDOUT;
	}
	phase = b->phase_;
	sn_wait_show(n, SENNIT_WAITS_FOR_BARRIER, b, deadline);
	word |= sn_wait_queue_join(&b->waiters_, n, false);
	sn_wait_queue_unlock(&b->state_, word + ARRIVAL);
	err = sn_wait_in(&b->state_, &b->waiters_, n, deadline);
	return err ? withdraw_arrival(b, phase, err) : 0;
}

int sennit_barrier_wait_until(sennit_barrier *b, sennit_time deadline)
{
	return KEEP_FRAME(arrive_at_barrier(b, deadline));
}

bool sennit_barrier_wait(sennit_barrier *b)
{
	return arrive_at_barrier(b, SN_UNCANCELLED) > 0;
}
