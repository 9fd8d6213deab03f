/* SPDX-License-Identifier: Apache-2.0 */
/* future.h - a result that is not there yet: waited for by many, set once.
 *
 *	producer   sennit_future_set, or sennit_future_set_error
 *	consumer   sennit_future_get, _wait, _is_set, or _then
 *
 * The outcome is a pointer, or a negative error. What travels by the pointer is
 * up to the two sides: a number, cast to it; the address of something that the
 * producer has made and the consumer frees; or that of a buffer of the
 * consumer's, of any size, in which it embeds the future so that the producer
 * finds it. The producer fills the buffer, then sets:
 *
 *	struct reply { sennit_future future; char text[100]; };
 *
 * All that the producer did before it set the future is visible to whoever has
 * seen it set. Once set it stays so, until it is initialised anew.
 *
 * All zero is a future that is not set; nothing needs destroying. Whoever
 * returns from a wait, or has seen it set, may free it at once: the setter does
 * not touch it any more. A producer that gives up sets an error, such as
 * -EPIPE, or its consumers wait for ever.
 */
#ifndef SENNIT_FUTURE_H
#define SENNIT_FUTURE_H

#include "sennit/scheduler.h"

#include <stdbool.h>

SENNIT_BEGIN

/* What runs once a future is set: with its value and 0, or with NULL and its
 * error. */
typedef void sennit_continuation_fn(void *argument, void *value, int error);

/* sennit_continuation.flags: whoever sets the future runs it, within that call,
 * on its own stack. For what is short: the setter waits for it. */
#define SENNIT_CONTINUATION_INLINE UINT32_C(1)

/* A continuation lies in memory of the caller's, which must stay until `run` is
 * called and may be freed from then on. The fields without a trailing
 * underscore are the caller's to fill in, the others zero or anything. */
typedef struct sennit_continuation {
	sennit_continuation_fn     *run;
	void                       *argument;
	sennit_scheduler           *scheduler; /* where; NULL: the setter's */
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
} sennit_future;

/* clang-format off */
#define SENNIT_FUTURE_INIT { { 0 }, 0, NULL, NULL, NULL }
/* clang-format on */

/* Make *f a future that is not set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_future_init(sennit_future *f);

/* Declare that *f is no longer used; optional. Misuse while it is waited for or
 * has continuations.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_future_destroy(sennit_future *f);

/* --- the producer ------------------------------------------------------- */

/* Set *f to the value, which may be NULL: all waits for it end, and its
 * continuations run. Misuse when it is set already.
 *
 * From: fiber, thread.  Blocks: no, but for inline continuations.  */
SENNIT_API void sennit_future_set(sennit_future *f, void *value);

/* Set *f to an error, which is negative. Misuse when it is set already.
 *
 * From: fiber, thread.  Blocks: no, but for inline continuations.  */
SENNIT_API void sennit_future_set_error(sennit_future *f, int error);

/* The same for several producers, of whom the first sets *f: the others must
 * know by themselves that it has not been freed since.
 * Returns 0, or -EALREADY when *f is set: then the call did nothing.
 *
 * From: fiber, thread.  Blocks: no, but for inline continuations.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_try_set(sennit_future *f,
						     void          *value);
SENNIT_API SENNIT_MUST_USE int sennit_future_try_set_error(sennit_future *f,
							   int error);

/* What sennit_async runs: stores a value (which is NULL before) and returns 0,
 * or returns a negative error. */
typedef int sennit_async_fn(void *argument, void **value);

/* Schedule a task on the bound scheduler that calls run(argument) and sets *f,
 * which is not set, to the outcome. Misuse with no scheduler bound.
 * Returns 0, -EINVAL when run is NULL, or -ENOMEM: then nothing was scheduled
 * and *f is not set.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_async(sennit_future   *f,
					    sennit_async_fn *run,
					    void            *argument);

/* --- the consumer ------------------------------------------------------- */

/* Whether *f is set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_future_is_set(const sennit_future *f);

/* Wait until *f is set, or the deadline passes. A deadline of 0 tests.
 * Returns 0 whatever the outcome that was set, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_until(sennit_future *f,
							sennit_time deadline);

/* Wait until *f is set.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_future_wait(sennit_future *f);

/* Wait until *f is set and store its value in *value, unless value is NULL.
 * Returns 0, or the error that *f was set to: then *value is untouched.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_get(sennit_future *f,
						 void         **value);

/* The same, but not beyond the deadline. A deadline of 0 polls.
 * Returns 0, the error that *f was set to, -ETIMEDOUT, or -ECANCELED. Where the
 * producer uses the last two itself, sennit_future_wait_until tells them apart.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_get_until(sennit_future *f,
						       void         **value,
						       sennit_time    deadline);

/* Have *c run, exactly once, when *f is set; at once if it is. It runs
 *	- as a task of c->scheduler, which is kept from ending until then, and
 *	  has workers, unless the setter is bound to it;
 *	- where that is NULL, as a task of the setter's scheduler (of the
 *	  caller's, if *f is set already);
 *	- by the setter itself, before its call returns, if so asked, and also
 *	  where the setter has no scheduler or there is no memory for a task.
 * It gets the outcome, and *f may be gone when it runs. Continuations are
 * started in the order in which they came. Misuse with no function, unknown
 * flags, or both inline and with a scheduler.
 *
 * From: fiber, thread.  Blocks: no, but for inline continuations.  */
SENNIT_API void sennit_future_then(sennit_future *f, sennit_continuation *c);

/* --- several ------------------------------------------------------------ */

/* The most futures to wait for one of: each takes some 100 bytes of stack. */
#define SENNIT_FUTURE_WAIT_MAX 64

/* Wait until one of the count futures is set, or the deadline passes, and store
 * its index in *which: the lowest, if some are set when the call begins. All
 * must stay until the call returns, so nobody else who waits for them may free
 * them before. Misuse with none, and beyond SENNIT_FUTURE_WAIT_MAX.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_any_until(
	sennit_future *const futures[], size_t count, size_t *which,
	sennit_time deadline);

/* The same without a deadline.
 * Returns the index.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API size_t sennit_future_wait_any(sennit_future *const futures[],
					 size_t               count);

/* Wait until each of the count futures, which may be none and any number, is
 * set, or the deadline passes. Looks at no outcome, and all must stay until the
 * call returns.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_future_wait_all_until(
	sennit_future *const futures[], size_t count, sennit_time deadline);

/* The same without a deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_future_wait_all(sennit_future *const futures[],
				       size_t               count);

SENNIT_END

#endif
