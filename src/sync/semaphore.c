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
#include "sennit/barrier.h"
#include "sennit/semaphore.h"

#include <errno.h>

#define ONE WAIT_QUEUE_OWN

_Static_assert(SENNIT_SEMAPHORE_MAX == UINT32_MAX / ONE,
	       "the permits fill the word's own bits");
_Static_assert(sizeof(sennit_semaphore) ==
		       2 * sizeof(uint32_t) + sizeof(void *),
	       "a semaphore is two words");

void sennit_semaphore_init(sennit_semaphore *s, uint32_t count)
{
	MISUSE(count > SENNIT_SEMAPHORE_MAX, "sennit_semaphore_init",
	       "the count is above SENNIT_SEMAPHORE_MAX");
	a_init(&s->state_, count * ONE);
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
static struct link *serve(sennit_semaphore *s, uint32_t *word)
{
	struct link *served = NULL;

	while (s->waiters_) {
		struct waiter *w = sn_wait_queue_first(s->waiters_);

		if (w->permits > *word / ONE)
			break;
		if (!sn_wait_take(&s->waiters_, w))
			continue;
		*word -= w->permits * ONE;
		sn_link_join(&served, &w->link);
	}
	*word = sn_wait_queue_bits(s->waiters_, *word);
	return served;
}

/* Serve the queue, unlock with `word` less the permits taken, and wake. */
static void serve_locked(sennit_semaphore *s, uint32_t word)
{
	struct link *served = serve(s, &word);

	sn_wait_queue_unlock(&s->state_, word);
	sn_wake_all(served);
}

/* --- taking ------------------------------------------------------------- */

/* Take n permits if there are enough and nobody waits. */
static bool take_at_once(sennit_semaphore *s, uint32_t n)
{
	uint32_t word = a_load_rlx(&s->state_);

	while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)) &&
	       word / ONE >= n)
		/* <- semaphore.give */
		if (a_cas_weak_acq(&s->state_, &word, word - n * ONE)) {
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
	if (!(word & WAIT_QUEUE_WAITERS) && word / ONE >= n) {
		sn_race_acquire(s);
		sn_wait_queue_unlock(&s->state_, word - n * ONE);
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
		serve_locked(s, sn_wait_queue_lock(&s->state_));
	return err;
}

static int take(sennit_semaphore *s, uint32_t n, sennit_time deadline)
{
	if (likely(take_at_once(s, n)) || !n)
		return 0;
	MISUSE(n > SENNIT_SEMAPHORE_MAX, "sennit_semaphore_take",
	       "more than SENNIT_SEMAPHORE_MAX permits are wanted");
	return KEEP_FRAME(take_slow(s, n, deadline));
}

int sennit_semaphore_take_until(sennit_semaphore *s, uint32_t n,
				sennit_time deadline)
{
	return take(s, n, deadline);
}

int sennit_semaphore_take(sennit_semaphore *s, uint32_t n)
{
	return take(s, n, SENNIT_NEVER);
}

/* --- giving ------------------------------------------------------------- */

static uint32_t with_more(uint32_t word, uint32_t n)
{
	MISUSE(n > SENNIT_SEMAPHORE_MAX - word / ONE, "sennit_semaphore_give",
	       "the count would exceed SENNIT_SEMAPHORE_MAX");
	return word + n * ONE;
}

void sennit_semaphore_give(sennit_semaphore *s, uint32_t n)
{
	uint32_t word = a_load_rlx(&s->state_);

	sn_race_release(s);
	while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)))
		/* -> semaphore.give: what the giver did before */
		if (a_cas_weak_rel(&s->state_, &word, with_more(word, n)))
			return;
	serve_locked(s, with_more(sn_wait_queue_lock(&s->state_), n));
}

uint32_t sennit_semaphore_count(const sennit_semaphore *s)
{
	return a_load_rlx(&s->state_) / ONE;
}

/* --- barrier -------------------------------------------------------------- */

/* The bits of the word above the queue bits count the arrivals.
 *
 * The queue's lock decides whether a phase is complete, not the claims. A
 * waiter whose deadline passed takes the lock again. It then finds that the
 * phase in which it was counted has ended, or it subtracts itself from the
 * count. So a phase that ends does so for everyone who was counted, even for
 * those who were past their deadline and no longer linked.
 */

_Static_assert(SENNIT_BARRIER_MAX == UINT32_MAX / ONE,
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
static int withdraw(sennit_barrier *b, uint32_t phase, int err)
{
	const uint32_t word = sn_wait_queue_lock(&b->state_);
	const bool     ended = b->phase_ != phase;

	if (ended)
		sn_race_acquire(b);
	sn_wait_queue_unlock(&b->state_, ended ? word : word - ONE);
	return ended ? 0 : err;
}

static int arrive(sennit_barrier *b, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word, phase;
	int            err;

	MISUSE(!b->parties_, "sennit_barrier_wait",
	       "the barrier has no parties");
	n = sn_waiter_own(deadline);
	sn_race_release(b);
	word = sn_wait_queue_lock(&b->state_);
	if (word / ONE + 1 == b->parties_) {
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
	sn_wait_queue_unlock(&b->state_, word + ONE);
	err = sn_wait_in(&b->state_, &b->waiters_, n, deadline);
	return err ? withdraw(b, phase, err) : 0;
}

int sennit_barrier_wait_until(sennit_barrier *b, sennit_time deadline)
{
	return KEEP_FRAME(arrive(b, deadline));
}

bool sennit_barrier_wait(sennit_barrier *b)
{
	return arrive(b, SN_UNCANCELLED) > 0;
}
