/* SPDX-License-Identifier: Apache-2.0 */
/* once.h - a function that runs once, called by the first caller that needs it.
 *
 * A once object with all bytes zero is not done. It needs no destruction. The
 * function runs in the fiber or thread that calls first, and it may wait. Other
 * callers wait until it has returned. After that a call costs one load.
 *
 * It is misuse to call the same once object from its own function. The function
 * must not wait for a task that calls it either. No exception may leave it:
 * sennit::once passes exceptions on.
 *
 * Bound: when the function has succeeded, all waiters return. After a failed
 * attempt the turn goes to the waiter that has waited longest. No later caller
 * gets it first. The turn belongs to that waiter even while its worker is busy
 * with a task. The others wait for that too, and that has no bound.
 */
#ifndef SENNIT_ONCE_H
#define SENNIT_ONCE_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

typedef struct sennit_once {
	sennit_word    state_;
	uint32_t       zero_;
	void          *waiters_;
	sennit_pointer owner_;
} sennit_once;

/* clang-format off */
#define SENNIT_ONCE_INIT { { 0 }, 0, NULL, { NULL } }
/* clang-format on */

/* The function that runs once. */
typedef void sennit_once_fn(void *argument);

/* A function that runs once unless it fails. It returns 0, or an error, which
 * should be a negative errno value. */
typedef int sennit_once_attempt_fn(void *argument);

/* Initialise *o as a once object that is not done.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_once_init(sennit_once *o);

/* Declare that *o is no longer used. This call is optional. It is misuse while
 * the function runs or anyone waits for it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_once_destroy(sennit_once *o);

/* Return whether *o is done. If it is, the effects of the function are visible
 * to the caller.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_once_is_done(const sennit_once *o);

/* Call run(argument) if *o is not done and no other caller runs its function.
 * If another caller runs its function, wait until it has returned. When the
 * call returns, *o is done. It may be freed at once if there are no further
 * callers: callers that waited for it do not access it any more.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_once_call(sennit_once *o, sennit_once_fn *run,
				 void *argument);

/* Like sennit_once_call, but wait for another caller's function until the
 * deadline only. The deadline limits the wait and not the function: with a
 * deadline of 0 the call runs the function, unless another caller's function is
 * running.
 * Returns 0 if *o is done, -ETIMEDOUT at the deadline of the wait, or
 * -ECANCELED if the caller's group is cancelled during the wait.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_once_call_until(sennit_once    *o,
						      sennit_once_fn *run,
						      void           *argument,
						      sennit_time     deadline);

/* Call run(argument) if *o is not done and no other caller runs its function.
 * If another caller runs its function, wait for it until the deadline. If a
 * function fails, *o is not done, and the caller that has waited longest, or
 * else the next caller, calls its own function. The deadline limits the wait
 * and not the function: with a deadline of 0 the call runs the function, unless
 * another caller's function is running.
 * Returns 0 if *o is done, the result of run if that was not 0, -ETIMEDOUT at
 * the deadline of the wait, or -ECANCELED if the caller's group is cancelled
 * during the wait.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_once_attempt_until(
	sennit_once *o, sennit_once_attempt_fn *run, void *argument,
	sennit_time deadline);

SENNIT_END

#endif
