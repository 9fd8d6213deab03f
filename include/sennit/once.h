/* SPDX-License-Identifier: Apache-2.0 */
/* once.h - something that is done once, by whoever needs it first.
 *
 * All zero is one that is not done; nothing needs destroying. The function runs
 * in the fiber or thread that comes first and may wait; others who come
 * meanwhile wait for it. When it is done a call costs one load.
 *
 * The bound: when it is done all who wait go on. After an attempt that failed
 * the turn goes to whoever has waited longest: nobody who comes later is before
 * it. The turn is its own from then on, also while its worker is busy with a
 * task: the others wait for that as well, without a bound.
 *
 * Misuse within the function: to call the same once. Nor may it wait for a task
 * that does.
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

/* What is done once. */
typedef void sennit_once_fn(void *argument);

/* What is done once unless it fails: returns 0, or else an error, best a
 * negative errno value. */
typedef int sennit_once_attempt_fn(void *argument);

/* Make *o one that is not done.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_once_init(sennit_once *o);

/* Declare that *o is no longer used; optional. Misuse while its function runs
 * or is waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_once_destroy(sennit_once *o);

/* Whether *o is done; what the function did is then visible.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_once_is_done(const sennit_once *o);

/* See that *o is done: call run(argument) if nobody has, or wait for the one
 * who does. On return *o is done, and may be freed at once if nobody else is to
 * call: who waited for it does not touch it any more.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_once_call(sennit_once *o, sennit_once_fn *run,
				 void *argument);

/* See that *o is done: call run(argument) if nobody has, or wait until the
 * deadline for the one who does. When it fails *o is not done, and the one who
 * has waited longest, or else the next to come, calls its own function. The
 * deadline bounds the wait, not the function: with 0, it is called or somebody
 * else's is running.
 * Returns 0 when *o is done, what the caller's run returned if that was not 0,
 * or -ETIMEDOUT or -ECANCELED, for the wait.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_once_attempt_until(
	sennit_once *o, sennit_once_attempt_fn *run, void *argument,
	sennit_time deadline);

SENNIT_END

#endif
