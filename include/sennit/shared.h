/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - events, wait groups, semaphores, condition variables and mutexes
 * that are reference-counted, for users none of whom outlives all others.
 *
 * A created object is an ordinary one in allocated memory: every call for its
 * type takes it. Each user holds a reference, and gives it back when it is done
 * with the object; the last release frees the object. Example:
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
 * For all calls below:
 *
 *	create   Allocate an object with one reference, the caller's. NULL for
 *	         the allocator means libc's. The allocator is copied; what it
 *	         uses must live as long as the object.
 *	         Returns 0, -ENOMEM, or -EINVAL if a function of the allocator
 *	         is NULL.
 *	retain   Take one more reference. The caller must have one, or know that
 *	         somebody keeps one meanwhile. At most UINT32_MAX at a time.
 *	         Returns the object.
 *	release  Give one reference back. What each user did before its release
 *	         is visible to the allocator's release function.
 *
 * Somebody who waits needs a reference, its own or that of somebody who waits
 * for it in turn. The last release while anybody waits, or while the mutex is
 * locked, is misuse. So is to retain or release what was not created by the
 * call of the same type, and to use an object after the last release; both are
 * named as far as the memory before the object still shows them.
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

/* Create an event; mode and set as for sennit_event_init().
 * Returns 0, -ENOMEM or -EINVAL.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_create(
	sennit_event **e, enum sennit_event_mode mode, bool set,
	const sennit_allocator *allocator);

/* Take one more reference to *e. Returns e.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_event *sennit_event_retain(sennit_event *e);

/* Give a reference to *e back; the last one frees it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_release(sennit_event *e);

/* --- wait groups -------------------------------------------------------- */

/* Create a wait group; count as for sennit_wait_group_init().
 * Returns 0, -ENOMEM or -EINVAL.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_wait_group_create(
	sennit_wait_group **g, uint32_t count,
	const sennit_allocator *allocator);

/* Take one more reference to *g, which has nothing to do with its count.
 * Returns g.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_wait_group *sennit_wait_group_retain(sennit_wait_group *g);

/* Give a reference to *g back; the last one frees it, whatever the count.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_release(sennit_wait_group *g);

/* --- semaphores --------------------------------------------------------- */

/* Create a semaphore; count as for sennit_semaphore_init().
 * Returns 0, -ENOMEM or -EINVAL.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_semaphore_create(
	sennit_semaphore **s, uint32_t count,
	const sennit_allocator *allocator);

/* Take one more reference to *s, which takes no permit. Returns s.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_semaphore *sennit_semaphore_retain(sennit_semaphore *s);

/* Give a reference to *s back, and no permit; the last one frees it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_release(sennit_semaphore *s);

/* --- condition variables ------------------------------------------------ */

/* Create a condition variable.
 * Returns 0, -ENOMEM or -EINVAL.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_cond_create(
	sennit_cond **c, const sennit_allocator *allocator);

/* Take one more reference to *c. Returns c.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_cond *sennit_cond_retain(sennit_cond *c);

/* Give a reference to *c back; the last one frees it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_cond_release(sennit_cond *c);

/* --- mutexes ------------------------------------------------------------ */

/* Create an unlocked mutex.
 * Returns 0, -ENOMEM or -EINVAL.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_mutex_create(
	sennit_mutex **m, const sennit_allocator *allocator);

/* Take one more reference to *m, locked or not. Returns m.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_mutex *sennit_mutex_retain(sennit_mutex *m);

/* Give a reference to *m back, after unlocking; the last one frees it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_mutex_release(sennit_mutex *m);

SENNIT_END

#endif
