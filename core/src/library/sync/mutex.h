/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - a mutex: its word, its waiters, its owner. */
#ifndef SN_MUTEX_H
#define SN_MUTEX_H

#include "wait/wait.h"
#include "sennit/mutex.h"

/* Whether the caller holds *m. Only the holder writes owner_, so a stale value
 * never equals the caller. */
static inline bool sn_mutex_is_held(const sennit_mutex *m)
{
	return a_load_rlx(&m->owner_) == sn_wait_identity();
}

/* The waiters of a mutex, in the order in which they came.
 *
 *	word   { grants : 24 | STOPPED | HANDED | AWAKE | HANDOVER | HELD |
 *	         queue bits }
 *
 * A waiter keeps its place until it leaves with the lock or gives up. It is
 * linked whether it is awake or asleep. So the holder of the queue's lock can
 * give the mutex to any waiter that it finds, and a claim (wait.h) decides only
 * which thread wakes it.
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
#define GRANTS (~(GRANT - 1))

/* After MAX_GRANTS grants to others, the next unlock hands the lock over. A
 * grant to a waiter that is not the first counts as MAX_GRANTS / MAX_TAKEN.
 * core/docs/design/mutex.md derives the bound that mutex.h states. */
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

/* Whether *m is neither locked nor waited for. */
static inline bool sn_mutex_is_unused(const sennit_mutex *m)
{
	return !a_load_rlx(&m->state_) && !m->waiters_;
}

#endif
