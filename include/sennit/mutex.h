/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - a lock that sets a waiting fiber aside instead of its thread.
 *
 * All zero is an unlocked mutex; nothing needs destroying. It may be held
 * across any wait. A free lock goes to whoever comes first, also past those who
 * wait (barging): where fibers do little else, those of one worker keep it for
 * some 20 us.
 *
 * The bound: who waits keeps its place, and at the latest after 4,096 grants to
 * others the lock is handed to whoever has waited longest. So one that finds n
 * waiting gets it after at most 4,096 * (n + 1) grants to others. Two kinds are
 * not counted. While a waiter looks at the lock (below) grants are not counted:
 * 20 us each time, and eight times before a hand-over. And a waiter whose
 * worker, or thread, does not run for a millisecond after the lock was handed
 * to it loses it to others until it has run.
 *
 * A waiter on a worker with nothing else to do does not sleep for more than
 * 16 ms while the lock is free: it does not depend on one that was woken before
 * it and whose worker is busy. For that it looks at the lock five times at most
 * until somebody unlocks it, however long that takes.
 *
 * Who waits on a worker that has nothing else to do may look at the lock for
 * 20 us; sennit_config.spin_ns = SENNIT_SPIN_NONE forbids that.
 *
 * The owner is the fiber, or the unbound thread, that locked it. So a task
 * unlocks before it ends, and a thread neither binds nor unbinds while it holds
 * a lock. A library that is built with assertions aborts and says so when a
 * task ends, or a thread unbinds, with a mutex locked; without assertions it
 * does when the same fiber locks that mutex again.
 *
 * shared.h has a reference-counted form.
 */
#ifndef SENNIT_MUTEX_H
#define SENNIT_MUTEX_H

#include "sennit/base.h"

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

/* Make *m an unlocked mutex.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_init(sennit_mutex *m);

/* Declare that *m is no longer used; optional. Misuse while it is locked or
 * waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_destroy(sennit_mutex *m);

/* Lock *m, waiting until the deadline for whoever holds it. Misuse when the
 * caller holds it already.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mutex_lock_until(sennit_mutex *m,
						       sennit_time   deadline);

/* Lock *m, waiting as long as it takes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_mutex_lock(sennit_mutex *m);

/* Unlock *m, which the caller locked; misuse otherwise. Whoever locks it next
 * may free it at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_unlock(sennit_mutex *m);

SENNIT_END

#endif
