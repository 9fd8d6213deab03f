/* SPDX-License-Identifier: Apache-2.0 */
/* mutex_queue.h - those who wait for a mutex, in the order in which they came.
 *
 *	word   { grants : 24 | STOPPED | HANDED | AWAKE | HANDOVER | HELD |
 *	         queue bits }
 *
 * A waiter keeps its place until it leaves with the lock, or gives up. Awake or
 * asleep, it is linked: so whoever holds the queue's lock can give the mutex to
 * whomever it finds, and a claim (wait.h) decides only who wakes it.
 *
 * All functions here want the queue's lock held. Whom they wake they add to a
 * list, for sn_mutex_wake once the queue is unlocked.
 */
#ifndef SN_MUTEX_QUEUE_H
#define SN_MUTEX_QUEUE_H

#include "wait/wait.h"
#include "worker/worker.h"
#include "sennit/mutex.h"

#define HELD     WAIT_QUEUE_OWN
#define HANDOVER (WAIT_QUEUE_OWN << 1) /* the next unlock passes it on; held */
#define AWAKE    (WAIT_QUEUE_OWN << 2) /* all have been woken who should be */
#define HANDED   (WAIT_QUEUE_OWN << 3) /* held for one who has not come yet */
#define STOPPED  (WAIT_QUEUE_OWN << 4) /* some stopped polling: wake them */
#define GRANT    (WAIT_QUEUE_OWN << 5) /* since a hand-over, with waiters */
#define GRANTS   (UINT32_MAX / GRANT * GRANT)

/* After so many grants to others the next unlock hands the lock over. One to a
 * waiter whose turn it was not counts for more. docs/design/mutex.md derives
 * the bound that mutex.h states. */
#define MAX_GRANTS TORTURED(32u, 4096u)
#define MAX_TAKEN  8u

/* One call that waits. */
struct turn {
	struct waiter n;
	struct turn  *woken;  /* of who wakes it: the next to be woken */
	sennit_time   since;  /* of the first: others wait for one awake; of
			       * the heir: it is the heir; 0: unknown */
	uint32_t      own;    /* of the first: so many, it included, are of its
			       * worker, unless some have left; 0: unknown */
	uint32_t      grants; /* while called, or a guard: GRANTS of the word */
	uint32_t      losses; /* owner: how often it came for nothing */
	sennit_time   poll;   /* owner: how long to sleep before a look */
	bool          awake;  /* not to be woken again */
	bool          called; /* so, and woken from another worker */
	bool          polls;  /* asleep, with an alarm */
	bool          stopped; /* asleep without one, or woken from that */
	bool          heir;    /* HANDED: the lock is held for it */
	bool          late;    /* the lock was, and was taken back */
};

/* While a guard looks the word shows no waiters, though there are some. */
static inline bool sn_mutex_is_guarded(const sennit_mutex *m, uint32_t word)
{
	return m->waiters_ && !(word & WAIT_QUEUE_WAITERS);
}

/* The word to be left, when it is to be `word`. Without waiters, or guarded, it
 * is nothing but HELD or not, so that the fast paths apply. */
static inline uint32_t sn_mutex_shown(const sennit_mutex *m, uint32_t word,
				      bool guarded)
{
	if (!m->waiters_ || guarded)
		return word & HELD;
	return (word & ~WAIT_QUEUE_RACED) | WAIT_QUEUE_WAITERS;
}

/* Add t at the back. */
void sn_mutex_join(sennit_mutex *m, struct turn *t, uint32_t *word);

/* Take t out. */
void sn_mutex_leave(sennit_mutex *m, struct turn *t, uint32_t *word,
		    struct turn **woken);

/* Whether t must look at the lock now and then while it sleeps: see "Who polls"
 * in docs/design/mutex.md. */
bool sn_mutex_must_poll(const sennit_mutex *m, const struct turn *t,
			uint32_t word);

/* The lock is given back: wake all who have stopped polling. */
void sn_mutex_resume_polls(sennit_mutex *m, uint32_t *word,
			   struct turn **woken);

/* The lock is left free: wake the first, and one of another worker. */
void sn_mutex_call(sennit_mutex *m, uint32_t *word, struct turn **woken);

/* Whether those who were called take too long. */
bool sn_mutex_is_overdue(const sennit_mutex *m);

/* Hold the lock for whoever came first. False: nobody can be trusted to come,
 * it is left free. */
bool sn_mutex_hand_over(sennit_mutex *m, uint32_t *word, struct turn **woken);

/* The heir has not come for long: the lock is the caller's. False: the heir may
 * still come, or there is none. */
bool sn_mutex_take_back(sennit_mutex *m, uint32_t *word);

/* Wake them. Not under the queue's lock. */
static inline void sn_mutex_wake(struct turn *woken)
{
	while (woken) {
		struct turn *next = woken->woken;

		sn_wake(&woken->n);
		woken = next;
	}
}

#endif
