/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - the running fiber itself: sleep, yield, wait to be notified.
 *
 * A fiber belongs to its worker for life and always resumes on that thread, so
 * thread-locals and thread identity hold across every wait.
 */
#ifndef SENNIT_FIBER_H
#define SENNIT_FIBER_H

#include "sennit/cond.h"

SENNIT_BEGIN

typedef struct sennit_fiber sennit_fiber;

/* The running fiber; NULL on an unbound thread. The handle may be used for
 * sennit_fiber_notify as long as the scheduler lives or, when it is one of a
 * bound thread, until that unbinds: once the fiber has ended it stands for
 * another or for none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_fiber *sennit_fiber_current(void);

/* A number for *f, unique among its worker's; 0 is a bound thread's own stack.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_fiber_id(const sennit_fiber *f);

/* Set the running fiber aside until holds(argument) does, the deadline passes,
 * or the caller's group is cancelled. The predicate is called with *m, which
 * the caller holds, locked; *m is unlocked only once the fiber is sure to be
 * woken by any later notify, and held again on return. A notify that finds the
 * predicate false lets the fiber wait on. Misuse on an unbound thread.
 * Returns what the predicate said last.
 *
 * From: fiber.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE bool sennit_fiber_wait(sennit_mutex     *m,
						  sennit_predicate *holds,
						  void             *argument,
						  sennit_time       deadline);

/* Call the running task so, in reports and messages of misuse, until it ends:
 * a copy of the name, cut to SENNIT_NAME_SIZE - 1 bytes. NULL, or "", takes it
 * away: then the task is called as its function is (sennit_task_set_name). On a
 * bound thread's own stack, the name is that stack's until the thread unbinds;
 * on an unbound thread nothing happens.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_fiber_set_name(const char *name);

/* Make *f look at its predicate again. Does nothing to a fiber that is not in
 * sennit_fiber_wait, or that is on its way out of it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_fiber_notify(sennit_fiber *f);

/* Let the fibers of this worker that are ready run first, and now and then a
 * task that has not started; on an unbound thread, give the CPU back.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_yield(void);

/* Sleep until the time `wake`; at once when it has passed, until cancelled with
 * SENNIT_NEVER.
 * Returns 0, or what ended it early: -ECANCELED when the caller's group is
 * cancelled, -ETIMEDOUT at the group's deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_sleep_until(sennit_time wake);

/* Sleep for so many nanoseconds, whatever becomes of the caller's group.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_sleep(uint64_t nanoseconds);

SENNIT_END

#endif
