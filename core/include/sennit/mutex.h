/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - a mutual-exclusion lock that suspends a waiting fiber and does not
 * block its thread.
 *
 * A mutex with all bytes zero is unlocked. A mutex needs no destruction. It may
 * be held across any wait. shared.h adds a reference count.
 *
 * Barging: the first caller gets a free lock, also ahead of waiters. Where
 * fibers do little else than lock and unlock, the fibers of one worker keep the
 * mutex for some 20 us.
 *
 * Fairness: a waiter keeps its place in the queue. After at most 4,096 grants
 * to others while a caller waits, the mutex is handed to the waiter that has
 * waited longest. So a caller that finds n waiters gets the mutex after at most
 * 4,096 * (n + 1) grants to others. Two kinds of grants are not counted:
 *   - grants while a waiter spins on the mutex (see below): 20 us each time,
 *     and eight times before a hand-over;
 *   - grants after a hand-over to a waiter whose worker, or thread, does not
 *     run for a millisecond: that waiter loses the mutex to others until it has
 *     run.
 *
 * Latency: a waiter on a worker with nothing else to run does not sleep for
 * more than 16 ms while the mutex is free. So it does not depend on a waiter
 * that was woken before it and whose worker is busy. For this it looks at the
 * mutex at most five times until the next unlock, however long that takes.
 *
 * Spinning: a waiter on a worker with nothing else to run may spin on the mutex
 * for 20 us. sennit_config.spin_ns = SENNIT_SPIN_NONE forbids that.
 *
 * Owner: the fiber or the unbound thread that locked the mutex. A task must
 * unlock it before it ends, and a thread must not bind or unbind while it holds
 * one. A library that is built with assertions aborts with a message when a
 * task ends, or a thread unbinds, with a mutex locked. Without assertions it
 * does so when the same fiber locks that mutex again.
 */
#ifndef SENNIT_MUTEX_H
#define SENNIT_MUTEX_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

typedef struct sennit_mutex {
	sennit_word    state_;
	sennit_word    worker_;
	void          *waiters_;
	sennit_pointer owner_;
} sennit_mutex;

/* clang-format off */
#define SENNIT_MUTEX_INIT { { 0 }, { 0 }, NULL, { NULL } }
/* clang-format on */

/* Initialise *m as an unlocked mutex.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_init(sennit_mutex *m);

/* Declare that *m is no longer used. This call is optional. It is misuse while
 * *m is locked or anyone waits for it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_destroy(sennit_mutex *m);

/* Lock *m. Wait until the deadline if another owner holds it. It is misuse if
 * the caller holds *m already.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mutex_lock_until(sennit_mutex *m,
						       sennit_time   deadline);

/* Lock *m. Wait as long as another owner holds it. It is misuse if the caller
 * holds *m already.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_mutex_lock(sennit_mutex *m);

/* Unlock *m. It is misuse if the caller does not hold *m. The next owner may
 * free *m at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_unlock(sennit_mutex *m);

/* Lock *m if that needs no wait. Returns whether it is locked now.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_MUST_USE static inline bool sennit_mutex_try_lock(sennit_mutex *m)
{
	return !sennit_mutex_lock_until(m, 0);
}

SENNIT_END

#endif
