/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_threads.h - a scheduler's threads for blocking calls: which are
 * idle, and how many exist.
 *
 *	started --> works --no call waits--> idle --timeout--> ended
 *	              ^                        |
 *	              +------- given a call ---+
 *
 *	word    the lock of all this, as in wait/waiter.h
 *	calls   waiters whose calls have not begun, oldest first
 *	idle    blocking threads without work, last used first
 *
 * The record of a blocking thread lies on its own stack, the record of a call
 * on the caller's stack. Nothing is allocated.
 *
 * Invariants
 *   - A call waits only while no thread is idle and `count` is not below
 *     `ceiling`. The threads begin all waiting calls before they rest.
 *   - `count` includes the threads that are being started. If the system
 *     refuses the last such thread, the caller that tried to start it
 *     runs the waiting calls itself.
 *   - A thread wakes the caller of a finished call only after it has
 *     another call or rests. So a caller that calls again at once finds
 *     it idle. The scheduler does not end while that fiber is blocked, so
 *     it ends only when all threads rest.
 *   - A thread counts as inside its scheduler (life/end.h) until
 *     it has left.
 */
#ifndef SN_BLOCKING_THREADS_H
#define SN_BLOCKING_THREADS_H

#include "wait/waiter.h"

enum { BLOCKING_THREAD_RESTS, BLOCKING_THREAD_SLEEPS, BLOCKING_THREAD_GIVEN };

struct blocking_thread {
	struct link    link;  /* under word: in the list of idle threads */
	bool           idle;  /* under word: whether it is in that list */
	struct waiter *given; /* handed by blocking_thread.give; NULL: end the
			       * thread */
	a_u32          state; /* any: the enum above; slept on */
};

struct blocking_threads {
	sennit_word  word;    /* any */
	void        *calls;   /* under word: waiting calls */
	struct link *idle;    /* under word: idle threads */
	uint32_t     limit;   /* under word: maximum number of threads */
	uint32_t     ceiling; /* under word: maximum for now, at most `limit` */
	uint32_t     count;   /* under word: number of threads */
	bool         choose;  /* under word: the limit has not been chosen
			       * yet */
	a_u32        names;   /* any: number for the next thread name */
};

/* limit 0: the library chooses the limit later, once there are LIMIT_LEAST
 * threads. */
void sn_blocking_threads_init(struct blocking_threads *p, uint32_t limit);

/* Whether the limit must be chosen before another thread starts. Lock held. */
bool sn_blocking_threads_must_choose(const struct blocking_threads *p);

/* Choose the limit. Concurrent callers get the same result. */
void sn_blocking_threads_choose(struct blocking_threads *p);

/* The scheduler has ended: all threads end. */
void sn_blocking_threads_close(struct blocking_threads *p);

/* The number of threads, including those that are being started. */
uint32_t sn_blocking_threads_count(struct blocking_threads *p);

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

/* Wait for a call, until the deadline. NULL: the thread is no longer counted
 * and must end. */
struct waiter *sn_blocking_thread_await(struct blocking_threads *p,
					struct blocking_thread  *self,
					sennit_time              deadline);

#endif
