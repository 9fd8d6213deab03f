/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/wait_group_count.h"

#include "base/check.h"

#define ONE WAIT_GROUP_ONE

_Static_assert(SENNIT_WAIT_GROUP_MAX == UINT32_MAX / ONE,
	       "the count fills the word's own bits");

_Static_assert(WAIT_GROUP_KEPT_MAX <= SENNIT_WAIT_GROUP_MAX / 8,
	       "a word that is far from both ends has room for what is kept");

/* Wait until the word is not locked, and return it, for a compare-and-set. */
static uint32_t unlocked(sennit_wait_group *g)
{
	uint32_t spins = 0;
	uint32_t word;

	/* <- wait_group.done: what was kept before a task ended elsewhere */
	while ((word = a_load_acq(&g->state_)) & WAIT_QUEUE_LOCKED) {
		a_pause();
		if (++spins % WAIT_QUEUE_SPINS == 0)
			os_thread_yield();
	}
	return word;
}

/* While the lock is held the word stays, and what is kept, read once, makes it
 * a count that *g has at that moment. Without the lock the keeper could move
 * what it has kept to the word between the two reads. */
static void add_locked(sennit_wait_group *g, uint32_t n, const char *call)
{
	uint32_t word = sn_wait_queue_lock(&g->state_);
	uint32_t sum = sn_wait_group_sum(word, a_load_rlx(&g->kept_));
	bool     fits = n <= SENNIT_WAIT_GROUP_MAX - sum / ONE;

	/* -> wait_group.done: what the adder did before */
	sn_wait_queue_unlock(&g->state_, fits ? word + n * ONE : word);
	MISUSE(!fits, call, "the count would exceed SENNIT_WAIT_GROUP_MAX");
}

void sn_wait_group_add(sennit_wait_group *g, uint32_t n, const char *call)
{
	uint32_t word;

	do {
		word = unlocked(g);
		TORTURE_POINT();
		if (unlikely(n > SENNIT_WAIT_GROUP_MAX / 4 ||
			     !sn_wait_group_has_room(word,
						     a_load_rlx(&g->kept_)))) {
			add_locked(g, n, call);
			return;
		}
		/* -> wait_group.done: what the adder did before */
	} while (!a_cas_weak_rel(&g->state_, &word, word + n * ONE));
}

/* A word above zero has tasks of its own, and the end of the last one looks
 * again. */
uint32_t sn_wait_group_look_at_kept(sennit_wait_group *g, uint32_t word,
				    bool waits)
{
	/* <- wait_group.kept */
	uint32_t kept = a_load_acq(&g->kept_);
	uint32_t sum = sn_wait_group_sum(word, kept);
	uint32_t spins = 0;

	if (!waits || !sum || (int32_t)word >= (int32_t)ONE)
		return sum;
	os_process_barrier(); /* <-> wait_group.keep: locked, then look */
	/* <- wait_group.kept */
	while ((kept = a_load_acq(&g->kept_)) & WAIT_GROUP_ENDING) {
		a_pause();
		if (++spins % WAIT_QUEUE_SPINS == 0)
			os_thread_yield();
	}
	return sn_wait_group_sum(word, kept);
}

/* This may be the last one, or the keeper counts apart, or the call is a
 * misuse. */
static bool done_locked(sennit_wait_group *g)
{
	uint32_t word = sn_wait_queue_lock(&g->state_) - ONE;
	bool     waits = word & WAIT_QUEUE_WAITERS;
	uint32_t left = sn_wait_group_look(g, word, waits);

	MISUSE(left == 0 - ONE, "sennit_wait_group_done",
	       "done() called too many times: the count would fall below zero");
	if (!left && waits)
		sn_wait_group_finish_locked(g, word);
	else
		sn_wait_queue_unlock(&g->state_, word);
	return !left;
}

/* The slow path. With a word below two this may be the last one, or a misuse:
 * that is judged under the lock. Without it, what is kept could be older than
 * the word on some processors. */
bool sn_wait_group_done_slow(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_); /* a guess; the CAS or the lock
						 * checks it */

	for (;;) {
		if (unlikely(word & WAIT_QUEUE_LOCKED)) {
			word = unlocked(g);
			continue;
		}
		if ((int32_t)word < (int32_t)(2 * ONE))
			return done_locked(g);
		/* -> wait_group.done: the work
		 * <- wait_group.done: the others', <- wait_queue.unlock */
		if (a_cas_weak_acqrel(&g->state_, &word, word - ONE))
			return false;
	}
}
