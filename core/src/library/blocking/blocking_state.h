/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_state.h - a scheduler's threads for blocking calls: which are idle,
 * and how many exist.
 *
 *	started --> works --no call waits--> idle --timeout--> ended
 *	              ^ ^                      |
 *	              | +----- given a call ---+
 *	              +-- no call has ended for a while
 *	holds back --+
 *	              +-- no call waits --> ended
 *
 *	word    the lock of all this, as in wait/wait.h
 *	calls   waiters whose calls have not begun, oldest first
 *	idle    blocking threads without work, last used first
 *
 * The record of a blocking thread lies on its own stack, the record of a call
 * on the caller's stack. Nothing is allocated.
 *
 * Invariants
 *   - A call waits only while no thread is idle and `count` is not below
 *     `ceiling`. The threads begin all waiting calls before they rest.
 *   - While calls wait, and more threads are allowed or calls may fail, one
 *     thread holds back, unless the system refuses it. It is not in `count`
 *     before it works, and has no call that could be lost.
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
#ifndef SN_BLOCKING_STATE_H
#define SN_BLOCKING_STATE_H

#include "base/atomic.h"
#include "base/list.h"
#include "sennit/base.h"

#include <stdbool.h>
#include <stdint.h>

struct waiter;

enum { BLOCKING_THREAD_RESTS, BLOCKING_THREAD_SLEEPS, BLOCKING_THREAD_GIVEN };

struct blocking_thread {
	struct link    link;  /* under word: in the list of idle threads */
	bool           idle;  /* under word: whether it is in that list */
	struct waiter *given; /* handed by blocking_thread.give; NULL: end the
			       * thread */
	a_u32          state; /* any: the enum above; slept on */
};

struct blocking_threads {
	sennit_word  word;  /* any */
	void        *calls; /* under word: waiting calls */
	struct link *idle;  /* under word: idle threads */
	uint32_t     limit; /* under word: maximum number of threads */
	uint32_t     quick; /* under word: up to so many start at once; at most
			       * `limit` */
	uint32_t     ceiling; /* under word: the same for now: less than `quick`
			      * after a refusal, more while no call ends */
	uint32_t     more;    /* under word: by how many it is raised next */
	uint32_t     count;   /* under word: number of threads */
	uint32_t     waiting; /* under word: number of calls that wait; too many
			       * for a moment after a deadline */
	sennit_time  moved;   /* under word: when a waiting call began last, or
			       * came to an empty queue */
	sennit_time  pause;   /* under word: how long no call must have moved
			       * before a thread is added */
	sennit_time  ask_at;  /* under word: a thread that holds back, which the
			      * system has refused, is not asked for before */
	bool         watched; /* under word: a thread holds back */
	bool  choose; /* under word: the limits have not been chosen yet */
	a_u32 closed; /* any: 1: the scheduler has ended; set under word, and
		       * slept on by the thread that holds back */
	a_u32 names;  /* any: number for the next thread name */
};

#endif
