/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.h - one thread at a time, in an order that a seed chooses, with
 * a clock that only waiting moves: a run that can be had again.
 *
 *	runnable --chosen--> running --point--> runnable
 *	    ^                   |
 *	    +--woken, deadline-- waiting (on a word, for a thread's end)
 *
 * In builds with SENNIT_DETERMINISTIC every thread that comes to a point takes
 * part. It runs when it has the turn and keeps it until its next point: where a
 * protocol could be disturbed (TORTURE_POINT), where it spins, and where it
 * sleeps. There the seed decides who is next. When all sleep, the clock jumps
 * to the first deadline; when there is none, they will sleep for ever, which is
 * reported with the seed, and the process aborts.
 *
 * What is explored are interleavings, not the reorderings of weak memory.
 *
 * A thread that the library did not start comes in when the system lets it: a
 * run with such threads is as repeatable as their coming. One that keeps the
 * turn for long without calling us (it joins a thread, it reads a file) loses
 * it until it comes back, so that programs go on, if not the same way each
 * time.
 */
#ifndef SN_DETERMINISTIC_THREADS_H
#define SN_DETERMINISTIC_THREADS_H

#include "base/compiler.h"

#include <pthread.h>
#include <stdbool.h>

#ifdef SENNIT_DETERMINISTIC

/* Begin anew with this seed and the clock at its beginning, once all others
 * that take part have ended. */
void sn_deterministic_begin(uint64_t seed);

/* The seed of this run: from sn_deterministic_begin, SENNIT_SEED, or 1. */
uint64_t sn_deterministic_seed(void);

/* How often the turn has passed to another thread. */
uint64_t sn_deterministic_passed(void);

/* Perhaps pass the turn on. */
void sn_deterministic_point(void);

/* A random number below `limit`. */
uint32_t sn_deterministic_random(uint32_t limit);

/* The clock, nanoseconds. */
uint64_t sn_deterministic_now(void);

/* As os_word_wait and os_word_wake_*. */
bool sn_deterministic_wait(const uint32_t *word, uint32_t expected,
			   uint64_t deadline);
void sn_deterministic_wake(const uint32_t *word, bool all);

/* As pthread_create, pthread_join and pthread_mutex_lock. */
int  sn_deterministic_start(pthread_t *out, void *(*run)(void *),
			    void      *argument);
int  sn_deterministic_join(pthread_t thread);
void sn_deterministic_lock(pthread_mutex_t *lock);

/* What to say besides when all sleep for ever: of who calls last, until its
 * context is forgotten. */
void sn_deterministic_explain(void (*explain)(void *context), void *context);
void sn_deterministic_forget(const void *context);

#else

static inline void sn_deterministic_explain(void (*explain)(void *context),
					    void *context)
{
	(void)explain;
	(void)context;
}

static inline void sn_deterministic_forget(const void *context)
{
	(void)context;
}

#endif
#endif
