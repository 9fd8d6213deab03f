/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_bias.h - a mutex that one worker alone uses becomes its own
 * (sched/bias.h): its locks and unlocks are plain stores.
 *
 *	word      { BIASED | slot : 15 | HELD }
 *	worker_   { REVOKED | worker : 20 | streak : 11 }
 *
 * A biased mutex shows HELD or not, and nothing else; only a guard's waiters,
 * which the word does not show in any case, may be in the queue. Whoever needs
 * the queue, and every other thread, ends the bias first. Then the mutex is as
 * any other, with the same word.
 *
 * worker: the serial number of the worker that locked the mutex last, modulo
 * 2^20; 0: an unbound thread. streak: how often it has in a row. The holder
 * writes both until the mutex is biased, and then nobody.
 */
#ifndef SN_MUTEX_BIAS_H
#define SN_MUTEX_BIAS_H

#include "sched/state.h"
#include "sennit/mutex.h"

#define STREAK_ONES 11
#define STREAK      (UINT32_C(1) << STREAK_ONES)
_Static_assert(BIAS_CLAIM < STREAK, "a streak has room");

/* The calling worker as worker_ shows it. */
static inline uint32_t sn_mutex_mark(void)
{
	return sn_self ? sn_self->serial * STREAK & (BIAS_REVOKED - 1) : 0;
}

/* End the bias of m. */
static inline void sn_mutex_unbias(sennit_mutex *m)
{
	sn_bias_revoke(sn_self ? &sn_self->bias : NULL, &m->state_, &m->worker_,
		       m);
}

/* Lock the queue of m, as sn_wait_queue_lock does. m is then not biased. */
uint32_t sn_mutex_lock_queue(sennit_mutex *m);

/* The caller's worker has had m BIAS_CLAIM times in a row, and has it now. If
 * nobody waits, m becomes its own. */
COLD void sn_mutex_claim(sennit_mutex *m);

/* Note that the caller's worker has had m, which is not biased, once more. No
 * store here loses REVOKED: it is set while m is biased, so before the caller
 * locked it. */
static ALWAYS_INLINE void sn_mutex_note_use(sennit_mutex *m)
{
	uint32_t mine = sn_mutex_mark();
	uint32_t last = a_load_rlx(&m->worker_);
	uint32_t next = last + 1;

	if (likely(last == (mine | BIAS_REVOKED)))
		return; /* it costs less than a store */
	if (!ARCH_HAS_BIAS || (last ^ mine) >= STREAK)
		next = mine | (last & BIAS_REVOKED);
	a_store_rlx(&m->worker_, next);
	if (ARCH_HAS_BIAS && unlikely(next % STREAK == BIAS_CLAIM))
		sn_mutex_claim(m);
}

/* If m shows `from`, and is the caller's worker's own, let it show `to`: HELD
 * or 0. Returns false if it does not, or was revoked; the worker then no longer
 * remembers it. */
static inline bool sn_mutex_change_own(sennit_mutex *m, struct worker *w,
				       uint32_t from, uint32_t to)
{
	struct bias own = sn_bias_own(&w->bias);

	/* Nobody but this worker makes the word so. It may be revoked, which
	 * sn_bias_enter finds out. */
	if (unlikely(a_load_rlx(&m->state_) != sn_bias_word(&own, from)) ||
	    unlikely(!sn_bias_enter(&own, m, &m->worker_))) {
		*sn_bias_place(&w->bias, m) = NULL;
		return false;
	}
	/* -> mutex.unlock -> bias.word: what the lock protects */
	a_store_rel(&m->state_, sn_bias_word(&own, to));
	sn_bias_leave(&own);
	return true;
}

/* Whether m may be the caller's worker's own. This does not access m, so a
 * mutex of which the answer is no costs what it would without the bias. */
static ALWAYS_INLINE bool sn_mutex_may_be_own(const sennit_mutex *m)
{
	struct worker *w = sn_self;

	return ARCH_HAS_BIAS && likely(w) && *sn_bias_place(&w->bias, m) == m;
}

#endif
