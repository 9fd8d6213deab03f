/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - a mutex: its owner, its queue, and the look before a wait. */
#ifndef SN_MUTEX_H
#define SN_MUTEX_H

#include "sched/state.h"
#include "wait/wait.h"
#include "sennit/mutex.h"

/* Whether the caller holds *m. Only the holder writes owner_, so a stale value
 * never equals the caller. */
static inline bool sn_mutex_is_held(const sennit_mutex *m)
{
	return a_load_rlx(&m->owner_) == sn_wait_identity();
}

/* --- mutex queue ---------------------------------------------------------- */

/* The waiters of a mutex, in the order in which they came.
 *
 *	word   { grants : 24 | STOPPED | HANDED | AWAKE | HANDOVER | HELD |
 *	         queue bits }
 *	       { BIASED | slot | HELD }: see mutex_bias.h
 *
 * A waiter keeps its place until it leaves with the lock or gives up. It is
 * linked whether it is awake or asleep. So the holder of the queue's lock can
 * give the mutex to any waiter that it finds, and a claim (wait.h) decides only
 * who wakes it.
 *
 * The caller of every function here holds the queue's lock. Functions that wake
 * waiters add them to a list. The caller passes that list to sn_mutex_wake
 * after it has unlocked the queue.
 */

#define HELD WAIT_QUEUE_OWN
#define HANDOVER \
	(WAIT_QUEUE_OWN << 1) /* the next unlock hands the lock over;
				        * only while HELD */
#define AWAKE \
	(WAIT_QUEUE_OWN << 2) /* all waiters that should be awake have
				        * been woken */
#define HANDED \
	(WAIT_QUEUE_OWN << 3) /* held for a waiter that has not come
				        * yet */
#define STOPPED \
	(WAIT_QUEUE_OWN << 4) /* some waiters stopped polling and must
				        * be woken */
#define GRANT \
	(WAIT_QUEUE_OWN << 5) /* grants since the last hand-over, while
				        * there are waiters */
#define GRANTS ((BIASED - 1) / GRANT * GRANT)

/* After MAX_GRANTS grants to others, the next unlock hands the lock over. A
 * grant to a waiter that is not the first counts as MAX_GRANTS / MAX_TAKEN.
 * docs/design/mutex.md derives the bound that mutex.h states. */
#define MAX_GRANTS TORTURED(32u, 4096u)
#define MAX_TAKEN  8u

/* One waiting call. */
struct turn {
	struct waiter n;
	struct turn  *woken;  /* belongs to the waking thread: next in its list
			       * of waiters to wake */
	sennit_time   since;  /* of the first waiter: since when it has been
			       * awake while others wait; of the heir: since
			       * when it is the heir; 0: unknown */
	uint32_t      own;    /* of the first waiter: the number of waiters of
			       * its worker at the front, including itself,
			       * minus those that left; 0: unknown */
	uint32_t      grants; /* while called, or a guard: GRANTS bits of the
			       * word */
	uint32_t      losses; /* owner: number of wakes that did not get the
			       * lock */
	sennit_time   poll;   /* owner: sleep time in ns before the next look */
	bool          awake;  /* must not be woken again */
	bool          called; /* awake, and woken by another worker */
	bool          polls;  /* asleep with an alarm */
	bool          stopped; /* asleep after it stopped polling, or woken from
			        * that */
	bool          heir;    /* HANDED: the lock is held for this waiter */
	bool          late;    /* the lock was held for it, and was taken
			        * back */
};

/* While a guard looks, the word shows no waiters although there are some. */
static inline bool sn_mutex_is_guarded(const sennit_mutex *m, uint32_t word)
{
	return m->waiters_ && !(word & WAIT_QUEUE_WAITERS);
}

/* The value to store for `word`. Without waiters, or with a guard, only HELD is
 * stored, so that the fast paths apply. */
static inline uint32_t sn_mutex_shown(const sennit_mutex *m, uint32_t word,
				      bool guarded)
{
	if (!m->waiters_ || guarded)
		return word & HELD;
	return (word & ~WAIT_QUEUE_RACED) | WAIT_QUEUE_WAITERS;
}

/* Add t at the back of the queue. */
void sn_mutex_join(sennit_mutex *m, struct turn *t, uint32_t *word);

/* Remove t from the queue. */
void sn_mutex_leave(sennit_mutex *m, struct turn *t, uint32_t *word,
		    struct turn **woken);

/* Whether t must poll the lock while it sleeps: see "Who polls" in
 * docs/design/mutex.md. */
bool sn_mutex_must_poll(const sennit_mutex *m, const struct turn *t,
			uint32_t word);

/* The lock is being released: wake all waiters that have stopped polling. */
void sn_mutex_resume_polls(sennit_mutex *m, uint32_t *word,
			   struct turn **woken);

/* The lock is left free: wake the first waiter, and one of another worker. */
void sn_mutex_call(sennit_mutex *m, uint32_t *word, struct turn **woken);

/* Whether the waiters that were called take too long. */
bool sn_mutex_is_overdue(const sennit_mutex *m);

/* Hand the lock to the first waiter that may come. Returns false if there is
 * none; the lock is then left free. */
bool sn_mutex_hand_over(sennit_mutex *m, uint32_t *word, struct turn **woken);

/* Take the lock back from an heir that has not come for GRACE_NS. Returns true
 * if the caller has the lock. False: the heir may still come, or there is
 * none. */
bool sn_mutex_take_back(sennit_mutex *m, uint32_t *word);

/* Wake the waiters of the list. Queue not locked. */
static inline void sn_mutex_wake(struct turn *woken)
{
	while (woken) {
		struct turn *next = woken->woken;

		sn_wake(&woken->n);
		woken = next;
	}
}

/* Whether *m is neither locked nor waited for. The word of a biased one
 * is not zero then. */
static inline bool sn_mutex_is_unused(const sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	return !(word & BIASED ? word & HELD : word) && !m->waiters_;
}

/* --- mutex look ----------------------------------------------------------- */

/* Finds out whether a mutex is free without disturbing the worker that uses it.
 */

/* Take the lock if it is free and the queue is not locked. */
bool sn_mutex_barge(sennit_mutex *m);

/* Look several times, and take the lock if it is free and stays free. */
bool sn_mutex_look(sennit_mutex *m);

/* The same for a guard: repeat for GUARD_NS, until the deadline, or until the
 * worker has other work. */
bool sn_mutex_look_long(sennit_mutex *m, sennit_time deadline);

/* Whether the calling worker has other work. */
bool sn_mutex_is_busy(void);

#endif
