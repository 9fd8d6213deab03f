/* SPDX-License-Identifier: Apache-2.0 */
/* future.h - a future: a value or an error that is set once and that many can
 * wait for.
 *
 *	producer   sennit_future_set, or sennit_future_set_error
 *	consumer   sennit_future_get, _wait, _is_set, or _then
 *
 * The outcome is a pointer or a negative error. The two sides decide what the
 * pointer means: a number, cast to a pointer; the address of an object that the
 * producer makes and the consumer frees; or the address of a buffer of the
 * consumer, of any size, in which the consumer embeds the future so that the
 * producer finds it. The producer fills the buffer and then sets the future:
 *
 *	struct reply { sennit_future future; char text[100]; };
 *
 * Everything that the producer did before it set the future is visible to a
 * consumer that has seen it set. A future stays set until it is initialised
 * again.
 *
 * A future with all bytes zero is not set. A future needs no destruction. A
 * consumer that returns from a wait, or has seen the future set, may free it at
 * once: the setter does not access it any more. A producer that gives up must
 * set an error, for example -EPIPE, or its consumers wait for ever.
 */
#ifndef SENNIT_FUTURE_H
#define SENNIT_FUTURE_H

#include "sennit/scheduler.h"

#include <stdbool.h>

SENNIT_BEGIN

/* A function that runs once a future is set. It gets the value and 0, or NULL
 * and the error. */
typedef void sennit_continuation_fn(void *argument, void *value, int error);

/* A flag of sennit_continuation: the setter of the future runs the continuation
 * within its call, on its own stack. Use it for short functions, since the
 * setter does nothing else meanwhile. No exception may leave it. */
#define SENNIT_CONTINUATION_INLINE UINT32_C(1)

/* A continuation is in memory of the caller. The memory must exist until
 * `run` is called and may be freed from then on. The caller sets the fields
 * without a trailing underscore. The other fields may have any value. */
typedef struct sennit_continuation {
	sennit_continuation_fn     *run;
	void                       *argument;
	sennit_scheduler           *scheduler; /* where it runs; NULL: the
						* setter's */
	uint32_t                    flags;     /* SENNIT_CONTINUATION_* */
	int32_t                     error_;
	void                       *value_;
	struct sennit_continuation *next_;
} sennit_continuation;

typedef struct sennit_future {
	sennit_word                 state_;
	int32_t                     error_;
	void                       *value_;
	void                       *waiters_;
	struct sennit_continuation *last_;
	void                       *reserved_[2];
} sennit_future;

/* clang-format off */
#define SENNIT_FUTURE_INIT { { 0 }, 0, NULL, NULL, NULL, { NULL, NULL } }
/* clang-format on */

/* Initialise *f as a future that is not set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_future_init(sennit_future *f);

/* Declare that *f is no longer used. This call is optional. It is misuse while
 * anyone waits for *f or *f has continuations.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_future_destroy(sennit_future *f);

/* --- the producer ------------------------------------------------------- */

/* Set *f to the value, which may be NULL. All waits for *f end, and its
 * continuations run. It is misuse if *f is set already.
 *
 * From: fiber, thread.  Blocks: no, except for inline continuations.  */
SENNIT_API void sennit_future_set(sennit_future *f, void *value);

/* Set *f to the error, which is negative. It is misuse if *f is set already.
 *
 * From: fiber, thread.  Blocks: no, except for inline continuations.  */
SENNIT_API void sennit_future_set_error(sennit_future *f, int error);

/* Set *f unless it is set already: for several producers, of which the first
 * sets *f. The other producers must know by other means that *f has not been
 * freed since.
 * Returns 0, or -EALREADY if *f is set already, and then the call did nothing.
 *
 * From: fiber, thread.  Blocks: no, except for inline continuations.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_try_set(sennit_future *f,
						     void          *value);
SENNIT_API SENNIT_MUST_USE int sennit_future_try_set_error(sennit_future *f,
							   int error);

/* A function that sennit_future_spawn runs. It stores a value in *value, which
 * is NULL before, and returns 0, or it returns a negative error. */
typedef int sennit_future_fn(void *argument, void **value);

/* Schedule a task on the bound scheduler that calls run(argument) and sets *f
 * to the outcome. *f must not be set. It is misuse if no scheduler is bound.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is scheduled
 * and *f is not set.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_spawn(sennit_future    *f,
						   sennit_future_fn *run,
						   void             *argument);

/* Like sennit_future_spawn, on *s, under the conditions of sennit_schedule_on.
 * Returns what sennit_schedule_on returns. On error nothing is scheduled and *f
 * is not set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_spawn_on(sennit_future    *f,
						      sennit_scheduler *s,
						      sennit_future_fn *run,
						      void *argument);

/* --- the consumer ------------------------------------------------------- */

/* Return whether *f is set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_future_is_set(const sennit_future *f);

/* Wait until *f is set or the deadline passes. With a deadline of 0 the call
 * tests and does not wait.
 * Returns 0 if *f is set, to a value or to an error, -ETIMEDOUT at the
 * deadline, or -ECANCELED if the caller's group is cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_until(sennit_future *f,
							sennit_time deadline);

/* Like sennit_future_wait_until, with the deadline of the caller's group alone.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait(sennit_future *f);

/* Wait until *f is set, and store its value in *value unless value is NULL.
 * Returns 0, the error that *f was set to, -ECANCELED if the caller's group is
 * cancelled, or -ETIMEDOUT at the group's deadline. After an error *value is
 * unchanged. If the producer uses the last two errors itself,
 * sennit_future_wait distinguishes them.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_get(sennit_future *f,
						 void         **value);

/* Like sennit_future_get, until the deadline. With a deadline of 0 the call
 * does not wait.
 * Returns 0, the error that *f was set to, -ETIMEDOUT at the deadline, or
 * -ECANCELED if the caller's group is cancelled. If the producer uses the last
 * two errors itself, sennit_future_wait_until distinguishes them.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_get_until(sennit_future *f,
						       void         **value,
						       sennit_time    deadline);

/* Run *c exactly once when *f is set; at once if it is set already. It runs
 *   - as a task of c->scheduler, if that is not NULL. That scheduler does not
 *     end before. It must have workers, unless the setter is bound to it;
 *   - otherwise as a task of the setter's scheduler (of the caller's, if *f is
 *     set already);
 *   - in the setter, before its call returns, if SENNIT_CONTINUATION_INLINE is
 *     set, or if the setter has no scheduler or there is no memory for a task.
 *     If the setter is such a continuation itself, *c runs after that one has
 *     returned, before the call that runs both returns. So a chain of them
 *     needs no more stack than one, and a continuation must not wait for one
 *     that it has left behind so.
 * *c gets the outcome. *f may have been freed when it runs. Continuations start
 * in the order in which they were added. It is misuse if `run` is NULL, if a
 * flag is unknown, or if the continuation is inline and names a scheduler.
 *
 * From: fiber, thread.  Blocks: no, except for inline continuations.  */
SENNIT_API void sennit_future_then(sennit_future *f, sennit_continuation *c);

/* --- several ------------------------------------------------------------ */

/* The largest number of futures of one sennit_future_wait_any. Each takes some
 * 100 bytes of stack. */
#define SENNIT_FUTURE_WAIT_MAX 64

/* Wait until one of futures[0..count-1] is set or the deadline passes, and
 * store its index in *which, unless which is NULL. If several are set when the
 * call begins, it stores the lowest index. All futures must exist until the
 * call returns, so no other waiter may free them before. It is misuse to pass
 * no futures, or more than SENNIT_FUTURE_WAIT_MAX. Returns 0, -ETIMEDOUT at the
 * deadline, or -ECANCELED if the caller's group is cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_any_until(
	sennit_future *const futures[], size_t count, size_t *which,
	sennit_time deadline);

/* Like sennit_future_wait_any_until, with the deadline of the caller's group
 * alone.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_any(
	sennit_future *const futures[], size_t count, size_t *which);

/* Wait until each of futures[0..count-1] is set or the deadline passes. count
 * may be any number, also 0. The call looks at no outcome. All futures must
 * exist until the call returns.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_all_until(
	sennit_future *const futures[], size_t count, sennit_time deadline);

/* Like sennit_future_wait_all_until, with the deadline of the caller's group
 * alone. Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_all(
	sennit_future *const futures[], size_t count);

SENNIT_END

#endif
