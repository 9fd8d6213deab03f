/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.c - the bits of the word above the queue bits count the free
 * permits.
 *
 * While there are waiters, every give serves the queue under the lock, from the
 * front. It stops at the first waiter that wants more permits than there are,
 * because those behind must not overtake it. Permits go directly to waiters, so
 * no other caller can take them in between.
 *
 * Invariant: while the word is unlocked, the first waiter wants more permits
 * than there are, or has given up and will serve the queue itself.
 */
#include "base/compiler.h"
#include "wait/wait.h"
#include "sennit/semaphore.h"

#include <errno.h>

#define COUNT_ONE WAIT_QUEUE_OWN

_Static_assert(SENNIT_SEMAPHORE_MAX == UINT32_MAX / COUNT_ONE,
	       "the permits fill the word's own bits");
_Static_assert(sizeof(sennit_semaphore) ==
		       2 * sizeof(uint32_t) + sizeof(void *),
	       "a semaphore is two words");

void sennit_semaphore_init(sennit_semaphore *s, uint32_t count)
{
	MISUSE(count > SENNIT_SEMAPHORE_MAX, "sennit_semaphore_init",
	       "the count is above SENNIT_SEMAPHORE_MAX");
	a_init(&s->state_, count * COUNT_ONE);
	s->zero_ = 0;
	s->waiters_ = NULL;
}

void sennit_semaphore_destroy(sennit_semaphore *s)
{
	MISUSE(a_load_rlx(&s->state_) & WAIT_QUEUE_WAITERS,
	       "sennit_semaphore_destroy",
	       "a fiber or thread still waits for the semaphore");
}

/* --- serving the queue -------------------------------------------------- */

/* Unlink the waiters that can be served, and subtract their permits from the
 * word. Returns their chain. Lock held. */
static struct link *grant_permits(sennit_semaphore *s, uint32_t *word)
{
	struct link *served = NULL;

	while (s->waiters_) {
		struct waiter *w = sn_wait_queue_first(s->waiters_);

		if (w->permits > *word / COUNT_ONE)
			break;
		if (!sn_wait_take(&s->waiters_, w))
			continue;
		*word -= w->permits * COUNT_ONE;
		sn_link_join(&served, &w->link);
	}
	*word = sn_wait_queue_bits(s->waiters_, *word);
	return served;
}

/* Serve the queue, unlock with `word` less the permits taken, and wake. */
static void grant_permits_locked(sennit_semaphore *s, uint32_t word)
{
	struct link *served = grant_permits(s, &word);

	sn_wait_queue_unlock(&s->state_, word);
	sn_wake_all(served);
}

/* --- taking ------------------------------------------------------------- */

/* Take n permits if there are enough and no caller waits. */
static bool take_at_once(sennit_semaphore *s, uint32_t n)
{
	uint32_t word = a_load_rlx(&s->state_);

	while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)) &&
	       word / COUNT_ONE >= n)
		/* <- semaphore.give */
		if (a_cas_weak_acq(&s->state_, &word, word - n * COUNT_ONE)) {
			sn_race_acquire(s);
			return true;
		}
	return false;
}

static int take_slow(sennit_semaphore *s, uint32_t n, sennit_time deadline)
{
	struct waiter *w;
	uint32_t       word;
	int            err;

	w = sn_waiter_own(deadline);
	w->permits = n;
	word = sn_wait_queue_lock(&s->state_);
	if (!(word & WAIT_QUEUE_WAITERS) && word / COUNT_ONE >= n) {
		sn_race_acquire(s);
		sn_wait_queue_unlock(&s->state_, word - n * COUNT_ONE);
		return 0;
	}
	if (!deadline) {
		sn_wait_queue_unlock(&s->state_, word);
		return -ETIMEDOUT;
	}
	sn_wait_show(w, SENNIT_WAITS_FOR_SEMAPHORE, s, deadline);
	word |= sn_wait_queue_join(&s->waiters_, w, false);
	sn_wait_queue_unlock(&s->state_, word);
	err = sn_wait_in(&s->state_, &s->waiters_, w, deadline);
	if (err) /* the permits may suffice for the waiters behind this one */
		grant_permits_locked(s, sn_wait_queue_lock(&s->state_));
	return err;
}

static int take_permits(sennit_semaphore *s, uint32_t n, sennit_time deadline)
{
	if (likely(take_at_once(s, n)) || !n)
		return 0;
	MISUSE(n > SENNIT_SEMAPHORE_MAX, "sennit_semaphore_acquire",
	       "more than SENNIT_SEMAPHORE_MAX permits are wanted");
	return KEEP_FRAME(take_slow(s, n, deadline));
}

int sennit_semaphore_acquire_until(sennit_semaphore *s, uint32_t n,
				   sennit_time deadline)
{
	return take_permits(s, n, deadline);
}

int sennit_semaphore_acquire(sennit_semaphore *s, uint32_t n)
{
	return take_permits(s, n, SENNIT_NEVER);
}

/* --- giving ------------------------------------------------------------- */

static uint32_t add_permits(uint32_t word, uint32_t n)
{
	MISUSE(n > SENNIT_SEMAPHORE_MAX - word / COUNT_ONE,
	       "sennit_semaphore_release",
	       "the count would exceed SENNIT_SEMAPHORE_MAX");
	return word + n * COUNT_ONE;
}

void sennit_semaphore_release(sennit_semaphore *s, uint32_t n)
{
	uint32_t word = a_load_rlx(&s->state_);

	sn_race_release(s);
	while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)))
		/* -> semaphore.give: what the giver did before */
		if (a_cas_weak_rel(&s->state_, &word, add_permits(word, n)))
			return;
	grant_permits_locked(s, add_permits(sn_wait_queue_lock(&s->state_), n));
}

uint32_t sennit_semaphore_count(const sennit_semaphore *s)
{
	return a_load_rlx(&s->state_) / COUNT_ONE;
}
