/* SPDX-License-Identifier: Apache-2.0 */
/* race.h - tells ThreadSanitizer what orders the program's accesses, in builds
 * for SENNIT_SANITIZE=race. In all other builds everything here is empty.
 *
 * The library is not instrumented in such a build. ThreadSanitizer sees the
 * program alone, and the order that the library tells it, which is the order
 * that the public calls promise: not what a lock of the library, a run queue or
 * the fact that two tasks share a worker happen to order.
 *
 *	context   what ThreadSanitizer takes for a thread. Each task has one
 *	          of its own from its start to its end. A thread's own code has
 *	          that of the thread. The scheduling of a worker has one, too,
 *	          in which no code of the program runs, so that a context that
 *	          is made there knows of nothing
 *	edge      sn_race_release(x) before, sn_race_acquire(x) behind
 *	fresh     memory whose earlier accesses are forgotten, because it passes
 *	          to another user: the stack below a task that begins, blocks of
 *	          the pool, and, whenever a thread changes its context, the
 *	          thread-local variables, errno among them: what runs on one
 *	          thread is never at the same time
 *
 * See docs/design/diagnosis.md.
 */
#ifndef SN_RACE_H
#define SN_RACE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef SENNIT_RACE
#define RACES_ARE_TOLD true

#pragma GCC visibility push(default) /* the other libraries call these */

void sn_race_release(const void *x);
void sn_race_acquire(const void *x);
/* The same, for one who comes once: *x may be used for something else. */
void sn_race_acquire_last(const void *x);

/* Between these two, ThreadSanitizer ignores what the calling thread does. */
void sn_race_hide(void);
void sn_race_show(void);

/* Nobody else accesses the memory any more. */
void sn_race_fresh(void *memory, size_t size);

/* The calling thread has a worker from now on. */
void sn_race_enter_thread(void);

/* Continue in the context of the worker's scheduling. Returns the previous
 * one. */
void *sn_race_leave(void);
/* Continue in the context that sn_race_leave() has returned. */
void sn_race_return(void *context);

/* A task that was made here. Returns what sn_race_begin() takes. */
void *sn_race_sent(void);

/* Continue in a context of its own: what follows comes after what was sent, and
 * is ordered with nothing else. low: the end of the running stack; NULL: it is
 * the thread's own. Returns the previous context, for sn_race_end(). */
void *sn_race_begin(void *sent, char *low);
/* The same, if the calling thread is in the context of its scheduling;
 * otherwise nothing, and NULL is returned. */
void *sn_race_begin_apart(char *low);
void  sn_race_end(void *outer, char *low);

/* Around what starts a thread: it knows of nothing. */
void *sn_race_clean(void);
void  sn_race_cleaned(void *outer);

#pragma GCC visibility pop
#else
#define RACES_ARE_TOLD false

#define sn_race_release(x)      ((void)0)
#define sn_race_acquire(x)      ((void)0)
#define sn_race_acquire_last(x) ((void)0)
#define sn_race_hide()          ((void)0)
#define sn_race_show()          ((void)0)
#define sn_race_fresh(m, size)  ((void)0)
#define sn_race_enter_thread()  ((void)0)
#define sn_race_leave()         NULL
#define sn_race_return(context) ((void)(context))
#define sn_race_begin(sent, l)  NULL
#define sn_race_begin_apart(l)  NULL
#define sn_race_end(outer, l)   ((void)(outer))
#define sn_race_clean()         NULL
#define sn_race_cleaned(outer)  ((void)(outer))
#endif

#endif
