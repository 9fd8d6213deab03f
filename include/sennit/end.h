/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - learning that a scheduler has ended, and handles that do not keep it
 * alive.
 *
 * Any number of clients may register for the end, at any time, each for itself:
 * a function is called, an event or a future is set, once. That happens when
 * on_shutdown has been called, after all workers have let go of everything, in
 * the order in which the clients registered, on whichever thread was last. The
 * functions must not wait. Their threads and a last block of memory may outlive
 * the call for a moment; sennit_scheduler_shutdown waits for these as well.
 *
 * A weak handle names a scheduler without holding a reference. It can be turned
 * into a reference for as long as the scheduler has not ended, also when nobody
 * else holds one; from then on it can not. Of an ended scheduler one block of
 * memory, some 2 KiB, stays until its last weak handle has been released: so
 * long the allocator must be there.
 *
 *	sennit_weak *w = sennit_scheduler_weak(s);
 *	...
 *	if (sennit_weak_lock(w, &s) == 0) {	// alive, and kept so
 *		err = sennit_enqueue(s, &task);
 *		sennit_scheduler_release(s);
 *	}
 *	sennit_weak_release(w);
 */
#ifndef SENNIT_END_H
#define SENNIT_END_H

#include "sennit/event.h"
#include "sennit/future.h"
#include "sennit/scheduler.h"

SENNIT_BEGIN

typedef struct sennit_weak sennit_weak;

/* What is called at the end. */
typedef void sennit_end_fn(void *argument);

/* --- registering -------------------------------------------------------- */

/* Have run(argument) called when *s has ended. It must not call into *s, other
 * than through weak handles.
 * Returns 0, -EINVAL when run is NULL, or -ENOMEM: nothing was registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_on_end(sennit_scheduler *s,
						       sennit_end_fn    *run,
						       void *argument);

/* Have *e, or *f with a value of NULL, set when *s has ended. It must stay
 * until it is set.
 * Returns 0, or -ENOMEM: nothing was registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_end_event(sennit_scheduler *s,
							  sennit_event     *e);
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_end_future(sennit_scheduler *s,
							   sennit_future    *f);

/* --- weak handles ------------------------------------------------------- */

/* A weak handle to *s, to which the caller holds a reference or whose task it
 * runs. The caller owns it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE sennit_weak *sennit_scheduler_weak(
	sennit_scheduler *s);

/* One more owner of a weak handle, or one less: the last one gives the memory
 * back.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_weak_retain(sennit_weak *w);
SENNIT_API void sennit_weak_release(sennit_weak *w);

/* Take a reference to the scheduler, unless it has ended, and store the
 * scheduler in *out. It succeeds also while the scheduler, with no reference
 * left, has work or looks whether it has any: that keeps it alive. Once it has
 * failed it fails for ever.
 * Returns 0, or -ESHUTDOWN.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_weak_lock(sennit_weak       *w,
						sennit_scheduler **out);

/* As sennit_scheduler_on_end, _end_event and _end_future. If the end has been
 * told already, run is called, or *e or *f set, before these return.
 * Returns 0, -EINVAL when run is NULL, or -ENOMEM: nothing was registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_weak_on_end(sennit_weak   *w,
						  sennit_end_fn *run,
						  void          *argument);
SENNIT_API SENNIT_MUST_USE int sennit_weak_end_event(sennit_weak  *w,
						     sennit_event *e);
SENNIT_API SENNIT_MUST_USE int sennit_weak_end_future(sennit_weak   *w,
						      sennit_future *f);

SENNIT_END

#endif
