/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.c - barging, with a hand-over for who has lost too often.
 *
 *	word   { HELD | HANDOVER | queue bits }
 *
 * Whoever comes first may take a free lock, also past waiters: a lock that is
 * handed to a sleeper lies idle until that has woken. But a waiter that was
 * woken and lost MAX_LOSSES times asks for a hand-over: the next unlock passes
 * the lock on without freeing it, so nobody starves.
 *
 * owner_ and worker_ are written by the holder alone. Others read them as
 * hints, or to compare with themselves, which a stale value cannot equal.
 */
#include "sennit/mutex.h"

#include "base/check.h"
#include "base/torture.h"
#include "sched/wait.h"
#include "sched/worker.h"

#include <errno.h>

#define HELD     QUEUE_OWN
#define HANDOVER (QUEUE_OWN << 1)

/* Looks at a lock held on another worker before setting the fiber aside: some
 * 500 ns, less than a wake across workers costs. */
#define SPINS TORTURED(1, 20)

#define MAX_LOSSES 2

_Static_assert(sizeof(sennit_mutex) ==
		       2 * sizeof(uint32_t) + 2 * sizeof(void *),
	       "a mutex is three words");

void sennit_mutex_init(sennit_mutex *m)
{
	a_init(&m->state_, 0);
	a_init(&m->worker_, 0);
	m->waiters_ = NULL;
	a_init(&m->owner_, NULL);
}

void sennit_mutex_destroy(sennit_mutex *m)
{
	MISUSE(a_load_rlx(&m->state_), "sennit_mutex_destroy",
	       "the mutex is locked or waited for");
}

static uint32_t serial(void)
{
	return sn_self ? sn_self->serial : 0;
}

static inline void own(sennit_mutex *m, void *self)
{
	a_store_rlx(&m->owner_, self);
	a_store_rlx(&m->worker_, serial());
}

/* Take the lock if it is free and nobody changes the queue. */
static bool barge(sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & (HELD | QUEUE_LOCKED)))
		/* <- mutex.unlock */
		if (a_cas_weak_acq(&m->state_, &word, word | HELD))
			return true;
	return false;
}

/* A holder on another worker is likely to unlock soon; one on our own cannot
 * while we spin. */
static bool spin(sennit_mutex *m)
{
	uint32_t mine = serial();

	for (int i = 0; i < SPINS; i++) {
		if (mine && a_load_rlx(&m->worker_) == mine)
			return false; /* a stale answer costs a wait */
		a_pause();
		if (barge(m))
			return true;
	}
	return false;
}

/* Queue up and sleep, unless the lock is free. 1: it may be free now; 0: it is
 * ours; or an error. */
static int wait_turn(sennit_mutex *m, sennit_time deadline, uint32_t losses)
{
	struct waiter n;
	uint32_t      word;
	int           err;

	sn_waiter_init(&n, deadline);
	word = sn_queue_lock(&m->state_);
	if (!(word & HELD) || !deadline) {
		sn_queue_unlock(&m->state_, word | HELD);
		return word & HELD ? -ETIMEDOUT : 0;
	}
	sn_wait_show(&n, SENNIT_WAITS_FOR_MUTEX, m, deadline);
	/* Who has waited already goes to the front. */
	word |= sn_queue_join(&m->waiters_, &n, losses > 0);
	if (losses >= MAX_LOSSES)
		word |= HANDOVER;
	sn_queue_unlock(&m->state_, word);
	err = sn_wait_in(&m->state_, &m->waiters_, &n, deadline);
	return err ? err : !n.is.handed;
}

static int lock_slow(sennit_mutex *m, void *self, sennit_time deadline)
{
	MISUSE(a_load_rlx(&m->owner_) == self, "sennit_mutex_lock",
	       "the caller holds the mutex already");
	for (uint32_t losses = 0;; losses++) {
		int turn;

		if (barge(m) || (deadline && spin(m)))
			break;
		turn = wait_turn(m, deadline, losses);
		if (turn < 0)
			return turn;
		if (!turn)
			break;
	}
	own(m, self);
	return 0;
}

static ALWAYS_INLINE int lock_until(sennit_mutex *m, sennit_time deadline)
{
	void    *self = sn_wait_identity();
	uint32_t unlocked = 0;

	/* <- mutex.unlock */
	if (unlikely(!a_cas_acq(&m->state_, &unlocked, HELD)))
		return lock_slow(m, self, deadline);
	own(m, self);
	TORTURE_POINT();
	return 0;
}

int sennit_mutex_lock_until(sennit_mutex *m, sennit_time deadline)
{
	return lock_until(m, deadline);
}

void sennit_mutex_lock(sennit_mutex *m)
{
	(void)!lock_until(m, SN_UNCANCELLED);
}

/* Wake the first waiter, and give it the lock if a hand-over was asked for. */
static void unlock_slow(sennit_mutex *m)
{
	uint32_t       word = sn_queue_lock(&m->state_);
	struct waiter *n = sn_wait_take_one(&m->waiters_);

	word = sn_queue_bits(m->waiters_, word);
	if (n && word & HANDOVER) {
		n->is.handed = true;
		a_store_rlx(&m->owner_,
			    n->fiber ? n->fiber->identity : n->parker);
		word &= ~HANDOVER;
	} else {
		word &= ~(HELD | HANDOVER);
	}
	sn_queue_unlock(&m->state_, word);
	if (n)
		sn_wait_wake(n);
}

void sennit_mutex_unlock(sennit_mutex *m)
{
	uint32_t held = HELD;

	MISUSE(a_load_rlx(&m->owner_) != sn_wait_identity(),
	       "sennit_mutex_unlock",
	       a_load_rlx(&m->owner_) ? "somebody else holds the mutex"
				      : "nobody holds the mutex");
	a_store_rlx(&m->owner_, NULL);
	TORTURE_POINT();
	/* -> mutex.unlock: what the lock protects */
	if (unlikely(!a_cas_rel(&m->state_, &held, 0)))
		unlock_slow(m);
}
