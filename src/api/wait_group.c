/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - the bits of the word above the queue bits are the count.
 *
 * The same store makes the count zero and clears WAITERS and LOCKED. So a
 * thread that sees the whole word zero may free the wait group: the calls that
 * led to zero do not access it any more.
 */
#include "sennit/wait_group.h"

#include "base/check.h"
#include "wait/wait.h"

#include <errno.h>

#define ONE WAIT_QUEUE_OWN

_Static_assert(SENNIT_WAIT_GROUP_MAX == UINT32_MAX / ONE,
	       "the count fills the word's own bits");

void sennit_wait_group_init(sennit_wait_group *g, uint32_t count)
{
	MISUSE(count > SENNIT_WAIT_GROUP_MAX, "sennit_wait_group_init",
	       "the count is above SENNIT_WAIT_GROUP_MAX");
	a_init(&g->state_, count * ONE);
	g->zero_ = 0;
	g->waiters_ = NULL;
}

void sennit_wait_group_destroy(sennit_wait_group *g)
{
	MISUSE(a_load_rlx(&g->state_) & WAIT_QUEUE_WAITERS,
	       "sennit_wait_group_destroy",
	       "a fiber or thread still waits for the wait group");
}

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

void sennit_wait_group_add(sennit_wait_group *g, uint32_t n)
{
	uint32_t word;

	do {
		word = unlocked(g);
		MISUSE(n > SENNIT_WAIT_GROUP_MAX - word / ONE,
		       "sennit_wait_group_add",
		       "the count would exceed SENNIT_WAIT_GROUP_MAX");
		/* -> wait_group.done: what the adder did before */
	} while (!a_cas_weak_rel(&g->state_, &word, word + n * ONE));
}

/* The last one, with waiters, has locked `word`. The store that makes the count
 * zero also releases the waiters. */
static void finish_locked(sennit_wait_group *g, uint32_t word)
{
	struct link *waiters = sn_wait_take_all(&g->waiters_, word);

	sn_wait_queue_unlock(&g->state_, 0);
	sn_wake_all(waiters);
}

/* The slow path: this may be the last one, or the word is locked, or it
 * changed, or the call is a misuse. */
static NOINLINE bool done_slow(sennit_wait_group *g)
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
			finish_locked(g, word);
		return word / ONE == 1;
	}
}

bool sennit_wait_group_done(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_);

	/* -> wait_group.done: the work <- wait_group.done: the others' */
	if (word < 2 * ONE || word & WAIT_QUEUE_LOCKED ||
	    !a_cas_weak_acqrel(&g->state_, &word, word - ONE))
		return done_slow(g);
	return false;
}

static ALWAYS_INLINE int wait_until(sennit_wait_group *g, sennit_time deadline)
{
	struct waiter n;
	uint32_t      word;

	/* <- wait_group.done <- wait_queue.unlock */
	if (!a_load_acq(&g->state_))
		return 0;
	sn_waiter_init(&n, deadline);
	word = sn_wait_queue_lock(&g->state_);
	if (unlikely(word < ONE || !deadline)) {
		sn_wait_queue_unlock(&g->state_, word);
		return word < ONE ? 0 : -ETIMEDOUT;
	}
	sn_wait_show(&n, SENNIT_WAITS_FOR_WAIT_GROUP, g, deadline);
	word |= sn_wait_queue_join(&g->waiters_, &n, false);
	sn_wait_queue_unlock(&g->state_, word);
	return sn_wait_in(&g->state_, &g->waiters_, &n, deadline);
}

int sennit_wait_group_wait_until(sennit_wait_group *g, sennit_time deadline)
{
	return wait_until(g, deadline);
}

void sennit_wait_group_wait(sennit_wait_group *g)
{
	(void)!wait_until(g, SN_UNCANCELLED);
}
