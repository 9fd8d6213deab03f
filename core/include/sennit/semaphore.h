/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.h - a counting semaphore: a number of permits to acquire and
 * release.
 *
 * A semaphore with all bytes zero has no permits. It needs no destruction.
 * shared.h adds a reference count. Permits have no owner: a caller may
 * release permits that it has not acquired.
 *
 * Waiters are served first come, first served, however few permits later
 * callers want. So callers that want one permit do not starve a caller that
 * wants many. Meanwhile permits may stay unused until there are enough for it.
 *
 * Bound: no later caller passes a waiter. A waiter owns its permits from the
 * moment that they are given to it, even while its worker is busy with a task.
 * The waiters behind it are served meanwhile if there are permits.
 */
#ifndef SENNIT_SEMAPHORE_H
#define SENNIT_SEMAPHORE_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The largest number of permits. */
#define SENNIT_SEMAPHORE_MAX UINT32_C(0x1fffffff)

typedef struct sennit_semaphore {
	sennit_word state_;
	uint32_t    zero_;
	void       *waiters_;
} sennit_semaphore;

/* clang-format off */
#define SENNIT_SEMAPHORE_INIT { { 0 }, 0, NULL }
/* clang-format on */

/* Initialise *s as a semaphore with `count` permits. It is misuse to pass more
 * than SENNIT_SEMAPHORE_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_init(sennit_semaphore *s, uint32_t count);

/* Declare that *s is no longer used. This call is optional. It is misuse while
 * anyone waits for *s.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_destroy(sennit_semaphore *s);

/* Take n permits at once. Wait until the deadline for earlier waiters and for
 * enough permits. The call takes all n permits or none. To take 0 permits
 * succeeds at once. A caller that gives up lets the waiters behind it proceed.
 * It is misuse to take more than SENNIT_SEMAPHORE_MAX.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_semaphore_acquire_until(
	sennit_semaphore *s, uint32_t n, sennit_time deadline);

/* Like sennit_semaphore_acquire_until, with the deadline of the caller's group
 * alone. Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_semaphore_acquire(sennit_semaphore *s,
							uint32_t          n);

/* Give n permits. They go to the waiters that have waited longest, as far as
 * they suffice. A caller that takes the last permit that will ever be given may
 * free *s at once. It is misuse to exceed SENNIT_SEMAPHORE_MAX permits.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_release(sennit_semaphore *s, uint32_t n);

/* Return the number of permits. A waiter may be waiting for some of them
 * together with more.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_semaphore_count(const sennit_semaphore *s);

/* Take n permits if that needs no wait. Returns whether they are taken.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_MUST_USE static inline bool sennit_semaphore_try_acquire(
	sennit_semaphore *s, uint32_t n)
{
	return !sennit_semaphore_acquire_until(s, n, 0);
}

SENNIT_END

#endif
