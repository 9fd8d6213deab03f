/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - notification of a scheduler's end, and weak handles.
 *
 * Any number of clients may register for the end of a scheduler, at any time
 * and independently. The library then calls their functions, once, which may
 * set an event or a future. It does so after on_shutdown has returned and after
 * all workers have released everything, in the order of registration, on the
 * thread that was last. The functions must not wait. The worker threads and a
 * last block of memory may outlive the call for a moment;
 * sennit_scheduler_shutdown waits for these as well.
 *
 * A weak handle names a scheduler and holds no reference. It can be turned into
 * a reference as long as the scheduler has not ended, even if there is no other
 * reference. After the end it cannot. One block of memory of some 2 KiB
 * remains of an ended scheduler until its last weak handle has been released.
 * The allocator must exist until then. As long as the block remains, calls that
 * give the scheduler work, threads or workers return -ESHUTDOWN. Other calls
 * must not be made any more.
 *
 *	sennit_weak_scheduler *w = sennit_scheduler_weak(s);
 *	...
 *	if (sennit_weak_scheduler_lock(w, &s) == 0) {	// alive, and kept alive
 *		err = sennit_schedule_task_on(s, &task);
 *		sennit_scheduler_release(s);
 *	}
 *	sennit_weak_scheduler_release(w);
 */
#ifndef SENNIT_END_H
#define SENNIT_END_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

typedef struct sennit_weak_scheduler sennit_weak_scheduler;

/* A function that the library calls at the end of a scheduler. No exception may
 * leave it. */
typedef void sennit_end_fn(void *argument);

/* --- registering -------------------------------------------------------- */

/* Register run(argument) to be called when *s has ended. run must not call into
 * *s, except through weak handles.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is
 * registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_on_end(sennit_scheduler *s,
						       sennit_end_fn    *run,
						       void *argument);

/* --- weak handles ------------------------------------------------------- */

/* Return a weak handle to *s. The caller must hold a reference to *s or run a
 * task of it. The caller owns the handle and releases it with
 * sennit_weak_scheduler_release.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE sennit_weak_scheduler *sennit_scheduler_weak(
	sennit_scheduler *s);

/* Add or remove one owner of a weak handle. The last release frees its memory.
 * Returns w if it adds one.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_weak_scheduler *sennit_weak_scheduler_retain(
	sennit_weak_scheduler *w);
SENNIT_API void sennit_weak_scheduler_release(sennit_weak_scheduler *w);

/* Take a reference to the scheduler, unless it has ended, and store the
 * scheduler in *out. The call also succeeds if there is no reference, as
 * long as the scheduler has work or is checking whether it has any; the new
 * reference keeps it alive. Once the call has failed, it always fails.
 * Returns 0, or -ESHUTDOWN if the scheduler has ended.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_weak_scheduler_lock(
	sennit_weak_scheduler *w, sennit_scheduler **out);

/* Like sennit_scheduler_on_end, by a weak handle. If the scheduler has ended
 * and its clients have been notified already, run is called before the call
 * returns.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is
 * registered.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_weak_scheduler_on_end(
	sennit_weak_scheduler *w, sennit_end_fn *run, void *argument);

SENNIT_END

#endif
