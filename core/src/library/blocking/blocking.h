/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - one blocking call of a fiber: a record on its stack, on
 * which a blocking thread works while the fiber waits.
 *
 *	there is an idle thread     it is given the call
 *	below the ceiling           a new thread starts with the call
 *	at the ceiling              the call waits in the queue
 *	no call ends for a while    the thread that holds back takes a call off
 *	                            the queue, up to the limit
 *	refused, and none is left   the caller runs all queued calls in place
 *
 * A blocking thread that takes a call off the queue claims it, and the claim of
 * wait/wait.h marks the start of the call. So a deadline can end the wait in
 * the queue, but nothing after that.
 */
#ifndef SN_BLOCKING_H
#define SN_BLOCKING_H

#include "sched/state.h"
#include "sennit/blocking.h"

struct blocking_call {
	struct waiter       waiter;
	sennit_scheduler   *scheduler;  /* fixed */
	sennit_blocking_fn *run;        /* fixed */
	void               *argument;   /* fixed */
	uint64_t            fp_control; /* fixed: that of the caller */
	sennit_time         since;      /* fixed: when it began to wait in the
					 * queue */
	bool                failed;     /* handed: it has waited too long, and
					 * has not begun */
	void               *result;     /* handed, together with the waiter */
	int                 error;      /* handed: errno, before and after */
};

/* Make the call on this thread. Its frame is where the stack of the call begins
 * (sennit_debug_helpers). */
NOINLINE void sn_blocking_call_make(struct blocking_call *c);

/* Execute *c for the running fiber. The caller must have set run, argument and
 * error. Returns 0, or -ETIMEDOUT, -ECANCELED or -EAGAIN (blocking_fail_ms):
 * the call then has not begun and never will. */
int sn_blocking_call(struct blocking_call *c, sennit_time deadline);

/* --- blocking threads ----------------------------------------------------- */

/* limit 0: the library chooses the limits later, once there are LIMIT_LEAST
 * threads. Otherwise all of them start at once. */
void sn_blocking_threads_init(struct blocking_threads *p, uint32_t limit);

/* Whether the limits must be chosen before another thread starts. Lock held. */
bool sn_blocking_threads_must_choose(const struct blocking_threads *p);

/* Choose the limits. Concurrent callers get the same result. */
void sn_blocking_threads_choose(struct blocking_threads *p);

/* The scheduler has ended: all threads end. */
void sn_blocking_threads_close(struct blocking_threads *p);

struct blocking_count {
	uint32_t    threads; /* including those that are being started */
	uint32_t    most;    /* the limit */
	uint32_t    waiting; /* calls that have not begun */
	sennit_time stuck;   /* for how long none of them has; 0: none waits */
};

struct blocking_count sn_blocking_threads_count(struct blocking_threads *p);

/* Take an idle blocking thread to give it a call. NULL: none is idle. Lock
 * held. */
struct blocking_thread *sn_blocking_threads_take_idle(
	struct blocking_threads *p);

/* Give a call to a blocking thread that was taken; NULL makes it end. Lock not
 * held. *to may be gone when this returns. */
void sn_blocking_thread_give(struct blocking_thread *to, struct waiter *call);

/* The system refused a thread that was counted. Returns true if no thread is
 * left; the caller must then run the waiting calls. */
bool sn_blocking_threads_refused(struct blocking_threads *p);

/* The calling blocking thread has no call and becomes idle: it may be given
 * one. Lock held. */
void sn_blocking_thread_rest(struct blocking_threads *p,
			     struct blocking_thread  *self);

/* Take the call that has waited longest, to begin it. The caller must then
 * update the word by sn_wait_queue_bits. NULL: none waits. Lock held. */
struct waiter *sn_blocking_threads_take_call(struct blocking_threads *p);

/* The calling blocking thread has ended a call, which puts off that threads are
 * added. Take another, as above, or rest and return NULL. Lock held. */
struct waiter *sn_blocking_thread_next(struct blocking_threads *p,
				       struct blocking_thread  *self);

/* Calls wait: when a thread must be added, if none of them begins before.
 * SENNIT_NEVER at the limit. Lock held. */
sennit_time sn_blocking_threads_grow_at(const struct blocking_threads *p);

/* Count the calling thread, and take a call for it, as above. NULL: it must not
 * be added. Lock held. */
struct waiter *sn_blocking_threads_grow(struct blocking_threads *p);

/* When a call fails that waits since then and may do so for `ms`, if none
 * begins before. Lock held. */
sennit_time sn_blocking_threads_fail_at(const struct blocking_threads *p,
					sennit_time since, uint32_t ms);

/* Wait for a call, until the deadline. NULL: the thread is no longer counted
 * and must end. */
struct waiter *sn_blocking_thread_await(struct blocking_threads *p,
					struct blocking_thread  *self,
					sennit_time              deadline);

#endif
