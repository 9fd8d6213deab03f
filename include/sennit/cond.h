/* SPDX-License-Identifier: Apache-2.0 */
/* cond.h - a condition variable for sennit_mutex.
 *
 * All zero is one that nobody waits for; nothing needs destroying. Waits do not
 * wake spuriously, but the condition may have changed again before the lock is
 * taken, so test it in a loop, or use the call with a predicate, which does.
 *
 * The bound: a notify goes to whoever has waited longest; nobody who comes
 * later passes it. Then it waits for the mutex, as mutex.h says. The notify is
 * its own, also while its worker is busy with a task: no other waiter comes in
 * its place. For the condition there is no bound: another may have the mutex
 * first and undo the condition, so who tests it in a loop may wait again, any
 * number of times. A semaphore or a channel gives what it has to the waiter
 * itself.
 *
 * shared.h has a reference-counted form.
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

/* A condition over *argument; called with the lock held. */
typedef bool sennit_predicate(void *argument);

/* Make *c a condition variable that nobody waits for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_init(sennit_cond *c);

/* Declare that *c is no longer used; optional. Misuse while it is waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_destroy(sennit_cond *c);

/* Wake the one who has waited longest, if any. With or without the lock.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_notify_one(sennit_cond *c);

/* Wake all who waited before the call. With or without the lock.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_notify_all(sennit_cond *c);

/* Unlock *m, which the caller holds, wait to be notified or for the deadline,
 * and lock *m again, however long that takes. No notify after the unlock is
 * missed. Also with a deadline that has passed the lock is let go for a moment.
 * Returns 0, -ETIMEDOUT or -ECANCELED; *m is held in any case.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_cond_wait_until(sennit_cond  *c,
						      sennit_mutex *m,
						      sennit_time   deadline);

/* As sennit_cond_wait_until, without a deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_cond_wait(sennit_cond *c, sennit_mutex *m);

/* Wait, as above, until holds(argument) does or the deadline passes.
 * Returns what the predicate said last: true also when it came to hold just
 * after the deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE bool sennit_cond_wait_for(sennit_cond      *c,
						     sennit_mutex     *m,
						     sennit_predicate *holds,
						     void             *argument,
						     sennit_time deadline);

SENNIT_END

#endif
