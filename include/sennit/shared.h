/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - reference-counted events, wait groups, semaphores, condition
 * variables and mutexes, for users of which none outlives the others.
 *
 * A created object is an ordinary object in allocated memory. Every call for
 * its type accepts it. Each user holds a reference and releases it when it is
 * done with the object. The last release frees the object. Example:
 *
 *	static void work(void *event)
 *	{
 *		sennit_event_set(event);
 *		sennit_event_release(event);
 *	}
 *
 *	static int start(sennit_event **done)
 *	{
 *		sennit_event *e;
 *		int err = sennit_event_create(&e, SENNIT_EVENT_MANUAL, false,
 *					      NULL);
 *
 *		if (err)
 *			return err;
 *		err = sennit_schedule(work, sennit_event_retain(e));
 *		if (err) {
 *			sennit_event_release(e);
 *			sennit_event_release(e);
 *			return err;
 *		}
 *		*done = e;
 *		return 0;
 *	}
 *
 * These rules hold for all calls below:
 *
 *	create   Allocate an object with one reference, which the caller owns.
 *	         An allocator of NULL means libc's. The allocator is copied;
 *	         what it uses must live as long as the object.
 *	         Returns 0, -ENOMEM, or -EINVAL if a function of the allocator
 *	         is NULL.
 *	retain   Take one more reference. The caller must hold a reference, or
 *	         know that another user holds one during the call. There are at
 *	         most UINT32_MAX references at a time. Returns the object.
 *	release  Release one reference. What each user did before its release
 *	         is visible to the allocator's release function.
 *
 * A waiter needs a reference: its own, or that of a user that waits for it in
 * turn. The last release is misuse while anyone waits, and while the mutex is
 * locked. It is also misuse to retain or release an object that the create call
 * of the same type did not make, and to use an object after the last release.
 * The library reports both as long as the memory before the object still shows
 * them.
 */
#ifndef SENNIT_SHARED_H
#define SENNIT_SHARED_H

#include "sennit/base.h"
#include "sennit/cond.h"
#include "sennit/event.h"
#include "sennit/mutex.h"
#include "sennit/semaphore.h"
#include "sennit/wait_group.h"

#include <stdbool.h>

SENNIT_BEGIN

/* --- events ------------------------------------------------------------- */

/* Create an event. mode and set are those of sennit_event_init.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_create(
	sennit_event **e, enum sennit_event_mode mode, bool set,
	const sennit_allocator *allocator);

/* Take one more reference to *e. Returns e.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_event *sennit_event_retain(sennit_event *e);

/* Release a reference to *e. The last release frees *e.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_release(sennit_event *e);

/* --- wait groups -------------------------------------------------------- */

/* Create a wait group. count is that of sennit_wait_group_init.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_wait_group_create(
	sennit_wait_group **g, uint32_t count,
	const sennit_allocator *allocator);

/* Take one more reference to *g. This does not change the count of *g. Returns
 * g.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_wait_group *sennit_wait_group_retain(sennit_wait_group *g);

/* Release a reference to *g. The last release frees *g, whatever its count.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_release(sennit_wait_group *g);

/* --- semaphores --------------------------------------------------------- */

/* Create a semaphore. count is that of sennit_semaphore_init.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_semaphore_create(
	sennit_semaphore **s, uint32_t count,
	const sennit_allocator *allocator);

/* Take one more reference to *s. This takes no permit. Returns s.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_semaphore *sennit_semaphore_retain(sennit_semaphore *s);

/* Release a reference to *s. This gives no permit. The last release frees *s.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_release(sennit_semaphore *s);

/* --- condition variables ------------------------------------------------ */

/* Create a condition variable.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_cond_create(
	sennit_cond **c, const sennit_allocator *allocator);

/* Take one more reference to *c. Returns c.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_cond *sennit_cond_retain(sennit_cond *c);

/* Release a reference to *c. The last release frees *c.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_release(sennit_cond *c);

/* --- mutexes ------------------------------------------------------------ */

/* Create an unlocked mutex.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_mutex_create(
	sennit_mutex **m, const sennit_allocator *allocator);

/* Take one more reference to *m, locked or not. Returns m.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_mutex *sennit_mutex_retain(sennit_mutex *m);

/* Release a reference to *m. Unlock *m before. The last release frees *m.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_release(sennit_mutex *m);

SENNIT_END

#endif
