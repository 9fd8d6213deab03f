/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - blocking calls: functions that block their thread, for example
 * file I/O, name resolution and other libraries.
 *
 * A function that blocks in the system also blocks its worker, and every fiber
 * and task there. A blocking call runs the function on a helper thread instead,
 * while the calling fiber waits as for anything else.
 *
 * Each scheduler has its own helper threads. It starts them when they are
 * needed, up to max_blocking_threads of its configuration. Calls beyond that
 * wait and are served first come, first served. A helper thread without work
 * serves further calls, last used first, or ends after blocking_idle_ms. All
 * helper threads have ended when the scheduler has ended. If the system refuses
 * a thread, the existing helper threads do the work. If there is none, the
 * function runs in place and blocks its worker. No call fails or is lost.
 *
 * At the limit a deadlock is possible: a function that waits for another
 * blocking call may wait for a call that cannot begin. Let functions wait for
 * the system and for fibers, not for other blocking calls, or allow a thread
 * for each function that may wait.
 */
#ifndef SENNIT_BLOCKING_H
#define SENNIT_BLOCKING_H

#include "sennit/base.h"

SENNIT_BEGIN

/* A function that a blocking call runs. It runs on an unbound thread, or in
 * place: on the caller's thread if that is unbound, and on the caller's own
 * stack if the system gives no thread at all. It begins with the caller's errno
 * and floating-point control. Only errno is passed back to the caller. It may
 * use every call of sennit that its place allows. It must return, with its
 * thread bound to nothing. It is misuse to end the thread, and to return in the
 * child of a fork.
 *
 * On a helper thread all signals are blocked except those that faults raise, so
 * that no handler interrupts the function. A program that is started from there
 * inherits this mask unless the function changes it. Helper threads are named
 * name-call/number. They may use all CPUs that the scheduler's workers may use,
 * or, without workers, the CPUs of the thread whose call started them. */
typedef void *sennit_blocking_fn(void *argument);

/* Call run(argument) on a helper thread and wait until it has returned. errno
 * is as run left it. On an unbound thread the call runs the function directly.
 * Returns the result of run.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void *sennit_blocking_call(sennit_blocking_fn *run, void *argument);

/* Like sennit_blocking_call, but give up if run has not begun by the deadline;
 * with a deadline of 0, if it cannot begin at once. Once run has begun the call
 * waits for it, however long it takes. Neither the deadline nor the
 * cancellation of a group interrupts it. The result of run is stored in *result
 * unless result is NULL.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled. On error run was not called and will not be called, and errno is
 * unchanged.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_blocking_call_until(
	sennit_blocking_fn *run, void *argument, void **result,
	sennit_time deadline);

SENNIT_END

#endif
