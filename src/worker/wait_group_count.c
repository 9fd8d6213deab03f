/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/wait_group_count.h"

#include "base/check.h"

#define ONE WAIT_GROUP_ONE

_Static_assert(SENNIT_WAIT_GROUP_MAX == UINT32_MAX / ONE,
	       "the count fills the word's own bits");

/* Wait until the word is not locked, and return it, for a compare-and-set. */
static uint32_t unlocked(sennit_wait_group *g)
{
	uint32_t spins = 0;
	uint32_t word;

	while ((word = a_load_rlx(&g->state_)) & WAIT_QUEUE_LOCKED) {
		a_pause();
		if (++spins % WAIT_QUEUE_SPINS == 0)
			os_thread_yield();
	}
	return word;
}

void sn_wait_group_add(sennit_wait_group *g, uint32_t n, const char *call)
{
	uint32_t word;

	do {
		word = unlocked(g);
		MISUSE(n > SENNIT_WAIT_GROUP_MAX - word / ONE, call,
		       "the count would exceed SENNIT_WAIT_GROUP_MAX");
		/* -> wait_group.done: what the adder did before */
	} while (!a_cas_weak_rel(&g->state_, &word, word + n * ONE));
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
		MISUSE(word < ONE, "sennit_wait_group_done",
		       "done() called too many times: the count "
		       "would fall below zero");
		/* -> wait_group.done: the work
		 * <- wait_group.done: the others', <- wait_queue.unlock */
		if (!a_cas_weak_acqrel(&g->state_, &word,
				       last ? word | WAIT_QUEUE_LOCKED
					    : word - ONE))
			continue;
		if (last)
			sn_wait_group_finish_locked(g, word);
		return word / ONE == 1;
	}
}
