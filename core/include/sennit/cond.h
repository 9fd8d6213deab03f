/* SPDX-License-Identifier: Apache-2.0 */
/* cond.h - a condition variable for sennit_mutex.
 *
 * A condition variable with all bytes zero has no waiters. It needs no
 * destruction. shared.h adds a reference count.
 *
 * A wait does not wake spuriously. But the condition may change again before
 * the waiter has locked the mutex, so test it in a loop, or use
 * sennit_cond_wait_until_true, which does.
 *
 * Bound: a notify goes to the waiter that has waited longest. No later waiter
 * passes it. It belongs to that waiter even while the waiter's worker is busy
 * with a task. The waiter then locks the mutex within the bound of mutex.h. The
 * condition itself has no bound: another caller may lock the mutex first and
 * undo the condition, any number of times. A semaphore hands its permit, and a
 * channel its value, to the waiter directly.
 */
#ifndef SENNIT_COND_H
#define SENNIT_COND_H

#include "sennit/mutex.h"

#include <stdbool.h>

SENNIT_BEGIN

typedef struct sennit_cond {
	sennit_word state_;
	uint32_t    zero_;
	void       *waiters_;
} sennit_cond;

/* clang-format off */
#define SENNIT_COND_INIT { { 0 }, 0, NULL }
/* clang-format on */

/* A condition over *argument. It is called with the mutex held. */
typedef bool sennit_predicate(void *argument);

/* Initialise *c as a condition variable without waiters.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_init(sennit_cond *c);

/* Declare that *c is no longer used. This call is optional. It is misuse while
 * anyone waits for *c.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_destroy(sennit_cond *c);

/* Wake the waiter that has waited longest, if there is one. The caller may hold
 * the mutex or not.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_notify_one(sennit_cond *c);

/* Wake all callers that began to wait before this call. The caller may hold the
 * mutex or not.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_notify_all(sennit_cond *c);

/* Unlock *m, which the caller holds, wait for a notify or until the deadline,
 * and lock *m again, however long that takes. The call misses no notify after
 * the unlock. Even if the deadline has passed already, the call unlocks the
 * mutex for a moment.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled. In each case the caller holds *m.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_cond_wait_until(sennit_cond  *c,
						      sennit_mutex *m,
						      sennit_time   deadline);

/* Like sennit_cond_wait_until, with the deadline of the caller's group alone.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT. In each case the caller
 * holds *m.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_cond_wait(sennit_cond  *c,
						sennit_mutex *m);

/* Wait, like sennit_cond_wait_until, until holds(argument) returns true.
 * Returns 0 if it does, also if it became true just as the wait ended.
 * Otherwise returns -ETIMEDOUT at the deadline, or -ECANCELED if the caller's
 * group is cancelled. In each case the caller holds *m.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_cond_wait_until_true(
	sennit_cond *c, sennit_mutex *m, sennit_predicate *holds,
	void *argument, sennit_time deadline);

SENNIT_END

#endif
