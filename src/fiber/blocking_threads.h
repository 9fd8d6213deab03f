/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_threads.h - a scheduler's threads for blocking calls: who is idle,
 * how many.
 *
 *	started --> works --no call waits--> idle --patience ends--> gone
 *	              ^                        |
 *	              +------- given a call ---+
 *
 *	word    lock of all this, in the manner of fiber/wait_queue.h
 *	calls   waiters whose calls have not begun, first come first
 *	idle    blocking threads without work, last used first
 *
 * A blocking thread's record lies on its own stack, a call's on its caller's:
 * nothing is allocated.
 *
 * Invariants
 *   - A call waits only while no thread is idle and `count` is not below
 *     `ceiling`. The threads begin all calls that wait before they rest.
 *   - `count` includes the threads that are being started. Whoever takes back
 *     the last of them, refused, begins what waits itself.
 *   - A thread wakes the caller it has worked for once it has another call or
 *     rests, so a caller that calls again at once finds it. The scheduler does
 *     not end while that fiber is blocked, so it ends only when all rest.
 *   - A thread is inside its scheduler (worker/finalise.h) until it has left.
 */
#ifndef SN_BLOCKING_THREADS_H
#define SN_BLOCKING_THREADS_H

#include "fiber/wait_queue.h"

enum { BLOCKING_THREAD_RESTS, BLOCKING_THREAD_SLEEPS, BLOCKING_THREAD_GIVEN };

struct blocking_thread {
	struct link    link;  /* under word: of the idle ones */
	bool           idle;  /* under word: among them */
	struct waiter *given; /* handed by blocking_thread.give; NULL: leave */
	a_u32          state; /* any: the enum above; slept on */
};

struct blocking_threads {
	sennit_word  word;    /* any */
	void        *calls;   /* under word */
	struct link *idle;    /* under word */
	uint32_t     limit;   /* under word: the most there may be */
	uint32_t     ceiling; /* under word: the most to be had now, not more
			       * than limit */
	uint32_t     count;   /* under word */
	bool         choose;  /* under word: the limit is to be chosen yet */
	a_u32        names;   /* any: the next one's number */
};

/* limit 0: the library's choice, which it makes when there are so many that the
 * system may mind. */
void sn_blocking_threads_init(struct blocking_threads *p, uint32_t limit);

/* Whether the limit must be chosen before there is one more. Lock held. */
bool sn_blocking_threads_must_choose(const struct blocking_threads *p);

/* Choose it; several callers at once come to the same. */
void sn_blocking_threads_choose(struct blocking_threads *p);

/* The scheduler has ended: all leave. */
void sn_blocking_threads_close(struct blocking_threads *p);

/* How many there are now, those included that are being started. */
uint32_t sn_blocking_threads_count(struct blocking_threads *p);

/* Take an idle blocking thread to give it a call, NULL when there is none. Lock
 * held. */
struct blocking_thread *sn_blocking_threads_take_idle(
	struct blocking_threads *p);

/* Give the blocking thread, which was taken, a call; or NULL: it leaves. Not
 * under the lock. It may be gone on return. */
void sn_blocking_thread_give(struct blocking_thread *to, struct waiter *call);

/* One that was to be started will not come. True: it was the last one, and the
 * caller must begin what waits. */
bool sn_blocking_threads_refused(struct blocking_threads *p);

/* The calling blocking thread, which has no other call, rests from now on: it
 * may be given one. Lock held. */
void sn_blocking_thread_rest(struct blocking_threads *p,
			     struct blocking_thread  *self);

/* Wait for what it is given, at most until the deadline. NULL: it is not
 * counted any more and must leave. */
struct waiter *sn_blocking_thread_await(struct blocking_threads *p,
					struct blocking_thread  *self,
					sennit_time              deadline);

#endif
