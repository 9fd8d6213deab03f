/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/wait_group_count.h"

#include "base/check.h"

#define ONE WAIT_GROUP_ONE

_Static_assert(SENNIT_WAIT_GROUP_MAX == UINT32_MAX / ONE,
	       "the count fills the word's own bits");

_Static_assert(UINT16_MAX / WAIT_GROUP_KEPT_ONE < SENNIT_WAIT_GROUP_MAX / 2,
	       "with what is kept the word stays far from its other end");

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

void sn_wait_group_add(sennit_wait_group *g, uint32_t n, const char *call)
{
	uint32_t word, sum;

	do {
		word = unlocked(g);
		sum = sn_wait_group_sum(word, a_load_rlx(&g->kept_));
		MISUSE(n > SENNIT_WAIT_GROUP_MAX - sum / ONE, call,
		       "the count would exceed SENNIT_WAIT_GROUP_MAX");
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

/* The same as below, with the lock: this may be the last one, and somebody
 * waits, or the keeper counts apart. */
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

/* The slow path: this may be the last one, or the word is locked, or it
 * changed, or the call is a misuse. */
bool sn_wait_group_done_slow(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_);

	for (;;) {
		bool last = word / ONE == 1 && word & WAIT_QUEUE_WAITERS;

		if (unlikely(word & WAIT_QUEUE_LOCKED)) {
			word = unlocked(g);
			continue;
		}
		/* Not stale: a task that is kept was tied before it ends. */
		if (last || a_load_rlx(&g->kept_))
			return done_locked(g);
		MISUSE(word < ONE, "sennit_wait_group_done",
		       "done() called too many times: the count "
		       "would fall below zero");
		/* -> wait_group.done: the work
		 * <- wait_group.done: the others', <- wait_queue.unlock */
		if (a_cas_weak_acqrel(&g->state_, &word, word - ONE))
			return word / ONE == 1;
	}
}
