/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - blocking calls: functions that block their thread, for example
 * file I/O, name resolution and other libraries.
 *
 * A function that blocks in the system also blocks its worker, and every fiber
 * and task there. A blocking call runs the function on a helper thread instead,
 * while the calling fiber waits as for anything else.
 *
 * Each scheduler has its own helper threads. It starts them when they are
 * needed, up to a number that the system allows easily, 256 at most. Calls
 * beyond that wait and are served first come, first served. As long as calls
 * end, no more threads are added. When calls wait and no call ends for 10 ms,
 * the calls may wait for each other: then threads are added, one after the
 * other and at most one each millisecond, until a call ends. After each that
 * leaves no call waiting, some more may start at once, twice as many each time.
 * So functions may wait for other blocking calls, as long as there may be a
 * thread for each.
 *
 * There are 8,192 threads at most, or fewer if the system allows fewer. Then a
 * deadlock is possible: a function that waits for another blocking call may
 * wait for a call that cannot begin. sennit_stats.blocking_stuck_ms, the report
 * and the watchdog say so. Or set blocking_fail_ms of sennit_config: a call
 * that has waited so long, while no call ended and no thread was added, fails
 * without having begun. sennit_blocking_call_until then returns -EAGAIN, and so
 * do calls of sennit/io.h that are blocking calls; sennit_blocking_call cannot
 * return an error, and ends the process with a line that says why.
 *
 * max_blocking_threads of sennit_config takes the place of both numbers: so
 * many threads start as they are needed, and no more are added.
 *
 * A helper thread without work serves further calls, last used first, or ends
 * after blocking_idle_ms. All helper threads have ended when the scheduler has
 * ended. If the system refuses a thread, the existing helper threads do the
 * work. If there is none, the function runs in place and blocks its worker. No
 * call is lost.
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
 * thread bound to nothing. It is misuse to end the thread, to return in the
 * child of a fork, and to return without waiting for a group that it opened.
 *
 * On a helper thread all signals are blocked except those that faults raise, so
 * that no handler interrupts the function. A program that is started from there
 * inherits this mask unless the function changes it. Helper threads are named
 * name-call/number. They may use all CPUs that the scheduler's workers may use,
 * or, without workers, the CPUs of the thread whose call started them. */
typedef void *sennit_blocking_fn(void *argument);

/* Call run(argument) on a helper thread and wait until it has returned. errno
 * is as run left it. On an unbound thread the call runs the function directly.
 * It is misuse if the call cannot begin for blocking_fail_ms of sennit_config,
 * which is 0 unless the program sets it: for ever.
 * Returns the result of run.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void *sennit_blocking_call(sennit_blocking_fn *run, void *argument);

/* Like sennit_blocking_call, but give up if run has not begun by the deadline;
 * with a deadline of 0, if it cannot begin at once. Once run has begun the call
 * waits for it, however long it takes. Neither the deadline nor the
 * cancellation of a group interrupts it. The result of run is stored in *result
 * unless result is NULL.
 * Returns 0, -ETIMEDOUT at the deadline, -ECANCELED if the caller's group is
 * cancelled, or -EAGAIN if the call could not begin for blocking_fail_ms of
 * sennit_config. On error run was not called and will not be called, and errno
 * is unchanged.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_blocking_call_until(
	sennit_blocking_fn *run, void *argument, void **result,
	sennit_time deadline);

SENNIT_END

#endif
