/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - objects with a reference count: events, mutexes, channels or
 * structs of the program, for users of which none is sure to outlive the
 * others.
 *
 * A shared object is allocated memory. What is in it is set up by its own call,
 * for example sennit_event_init, and every call for its type accepts it. Each
 * user holds a reference and releases it when it is done with the object. The
 * last release frees the object. Example:
 *
 *	static void work(void *event)
 *	{
 *		sennit_event_set(event);
 *		sennit_shared_release(event);
 *	}
 *
 *	static int start(sennit_event **done)
 *	{
 *		sennit_event *e;
 *		int           err;
 *
 *		e = sennit_shared_create(sizeof(*e), NULL, NULL);
 *		if (!e)
 *			return -ENOMEM;
 *		err = sennit_schedule(work, sennit_shared_retain(e));
 *		if (err) {
 *			sennit_shared_release(e);
 *			sennit_shared_release(e);
 *			return err;
 *		}
 *		*done = e;
 *		return 0;
 *	}
 *
 * A waiter needs a reference: its own, or that of a user that waits for it in
 * turn.
 */
#ifndef SENNIT_SHARED_H
#define SENNIT_SHARED_H

#include "sennit/base.h"

#include <errno.h>

SENNIT_BEGIN

/* A function that the last release calls with the object. No exception may
 * leave it. */
typedef void sennit_shared_end_fn(void *object);

/* Allocate an object of `size` bytes, which are zero, at a multiple of 16, with
 * one reference, which the caller owns. The last release calls end(object),
 * unless end is NULL, and then frees the memory: use it to destroy what the
 * object contains, and to find misuse (sennit_event_destroy aborts if anyone
 * still waits). An allocator of NULL means libc's. The allocator is copied;
 * what it uses must live as long as the object.
 * Returns NULL if there is no memory, the size is 0, or the allocator lacks a
 * function.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE void *sennit_shared_create(
	size_t size, sennit_shared_end_fn *end,
	const sennit_allocator *allocator);

/* Take one more reference to *object. The caller must hold a reference, or know
 * that another user holds one during the call. There are at most UINT32_MAX
 * references at a time. It is misuse if sennit_shared_create did not make the
 * object, or after the last release; the library reports both as long as the
 * memory before the object still shows them. Returns object.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void *sennit_shared_retain(void *object);

/* Release a reference to *object. The last release calls `end` and frees the
 * object. What each user did before its release is visible to `end`. Misuse as
 * in sennit_shared_retain.
 *
 * From: fiber, thread.  Blocks: no (except for what `end` does).  */
SENNIT_API void sennit_shared_release(void *object);

SENNIT_END

#endif
