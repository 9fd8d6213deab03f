/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - reference-counted events, wait groups, semaphores, condition
 * variables, mutexes, reader-writer locks, barriers, futures, queues of
 * tickets, channels and pools, for users of which none is sure to outlive the
 * others.
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
 * turn. The last release is misuse while anyone waits, while a lock is held, a
 * ticket is not done, a continuation waits, or an item is on loan. It is also
 * misuse to retain or release an object that the create call of the same type
 * did not make, and to use an object after the last release. The library
 * reports both as long as the memory before the object still shows them.
 */
#ifndef SENNIT_SHARED_H
#define SENNIT_SHARED_H

#include "sennit/barrier.h"
#include "sennit/base.h"
#include "sennit/channel.h"
#include "sennit/cond.h"
#include "sennit/event.h"
#include "sennit/future.h"
#include "sennit/mutex.h"
#include "sennit/pool.h"
#include "sennit/rwlock.h"
#include "sennit/semaphore.h"
#include "sennit/ticket.h"
#include "sennit/wait_group.h"

#include <stdbool.h>

SENNIT_BEGIN

/* --- events -------------------------------------------------------------- */

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

/* --- wait groups --------------------------------------------------------- */

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

/* --- semaphores ---------------------------------------------------------- */

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

/* --- condition variables ------------------------------------------------- */

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

/* --- mutexes ------------------------------------------------------------- */

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

/* --- reader-writer locks ------------------------------------------------- */

/* Create an unlocked reader-writer lock.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_rwlock_create(
	sennit_rwlock **l, const sennit_allocator *allocator);

/* Take one more reference to *l, held or not. Returns l.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_rwlock *sennit_rwlock_retain(sennit_rwlock *l);

/* Release a reference to *l. The last release frees *l.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_release(sennit_rwlock *l);

/* --- barriers ------------------------------------------------------------ */

/* Create a barrier. parties is that of sennit_barrier_init.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_barrier_create(
	sennit_barrier **b, uint32_t parties,
	const sennit_allocator *allocator);

/* Take one more reference to *b. This is no arrival. Returns b.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_barrier *sennit_barrier_retain(sennit_barrier *b);

/* Release a reference to *b. The last release frees *b.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_barrier_release(sennit_barrier *b);

/* --- queues of tickets --------------------------------------------------- */

/* Create an empty queue of tickets.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_ticket_queue_create(
	sennit_ticket_queue **q, const sennit_allocator *allocator);

/* Take one more reference to *q. A ticket of *q needs
 * one of its taker. Returns q.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_ticket_queue *sennit_ticket_queue_retain(
	sennit_ticket_queue *q);

/* Release a reference to *q. The last release frees *q.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_ticket_queue_release(sennit_ticket_queue *q);

/* --- futures ------------------------------------------------------------- */

/* Create a future that is not set.
 * Returns 0, -ENOMEM, or -EINVAL if the allocator lacks a function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_create(
	sennit_future **f, const sennit_allocator *allocator);

/* Take one more reference to *f, set or not. Returns f.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_future *sennit_future_retain(sennit_future *f);

/* Release a reference to *f. The last release frees
 * *f, but not its value.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_future_release(sennit_future *f);

/* --- channels ------------------------------------------------------------ */

/* Create a channel. size and capacity are those of sennit_channel_init, and the
 * values are in memory of the same allocator.
 * Returns 0, or an error of sennit_channel_init.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_channel_create(
	sennit_channel **c, uint32_t size, size_t capacity,
	const sennit_allocator *allocator);

/* Take one more reference to *c, closed or not. Returns c.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_channel *sennit_channel_retain(sennit_channel *c);

/* Release a reference to *c. The last release frees
 * *c with the values in it, as sennit_channel_destroy does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_channel_release(sennit_channel *c);

/* --- pools --------------------------------------------------------------- */

/* Create a pool. Its own memory comes from the allocator of *config, too.
 * Returns 0, or an error of sennit_pool_init.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_pool_create(
	sennit_pool **p, const sennit_pool_config *config);

/* Take one more reference to *p. This borrows nothing. Returns p.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_pool *sennit_pool_retain(sennit_pool *p);

/* Release a reference to *p. The last release destroys
 * the items and frees *p, as sennit_pool_destroy does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_pool_release(sennit_pool *p);

SENNIT_END

#endif
