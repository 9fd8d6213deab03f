/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - functions that hold up their thread: files, name servers, other
 * libraries.
 *
 * What blocks in the system holds up the worker it runs on, and every fiber and
 * task there. A blocking call runs the function on a helper thread instead,
 * while the calling fiber waits as for anything else.
 *
 * Each scheduler has helper threads of its own, begun when they are needed, up
 * to max_blocking_threads of its configuration; calls beyond that wait their
 * turn, first come first served. A thread without work serves again, last used
 * first, or ends after blocking_idle_ms. All have ended when the scheduler has.
 * Where the system refuses a thread, those that are there do the work; where
 * there is none, the function runs in place, and holds up its worker. No call
 * fails or is lost.
 *
 * At the limit, a function that waits for what another call is to do may wait
 * for a call that cannot begin: then neither ends. Let calls wait for the
 * system and for fibers, not for other calls, or have a thread for each that
 * may wait.
 */
#ifndef SENNIT_BLOCKING_H
#define SENNIT_BLOCKING_H

#include "sennit/base.h"

SENNIT_BEGIN

/* What is called. It runs on an unbound thread, or in place: on an unbound
 * caller's thread, and on the caller's own stack where the system gives no
 * thread at all. It begins with the caller's errno and floating-point control;
 * of what it changes, errno alone comes back. It may use every call of sennit
 * that its place allows, and must return, with its thread bound to nothing: to
 * end the thread or, in the child of a fork, to return is misuse.
 *
 * On a helper thread all signals are blocked but those that faults raise, so
 * that no handler breaks off what blocks. A program begun from there inherits
 * that, unless the function sees to it. Helper threads are called
 * name-call/number, and may use all the CPUs that the scheduler's workers may;
 * without workers, those of the thread whose call began them. */
typedef void *sennit_blocking_fn(void *argument);

/* Call run(argument) on a helper thread, wait until it has returned, and return
 * what it returned, with errno as it left it. On an unbound thread run is
 * simply called.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void *sennit_blocking_call(sennit_blocking_fn *run, void *argument);

/* The same, but give up when the call has not begun by the deadline; 0: unless
 * it can begin at once. A call that has begun is waited for, however long it
 * takes: no deadline breaks it off, nor the cancelling of a group. *result,
 * unless result is NULL, is what run returned.
 * Returns 0, -ETIMEDOUT, or -ECANCELED. On error run was not called and never
 * will be, and errno is as it was.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_blocking_call_until(
	sennit_blocking_fn *run, void *argument, void **result,
	sennit_time deadline);

SENNIT_END

#endif
