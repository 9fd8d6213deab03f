/* SPDX-License-Identifier: Apache-2.0 */
/* race.h - tells ThreadSanitizer which order of the program's accesses the
 * library guarantees, in builds for SENNIT_SANITIZE=race. In all other builds
 * everything here is empty.
 *
 * The library is not instrumented in such a build. ThreadSanitizer sees only
 * the program, and the order that the library reports. That is the order that
 * the public calls promise. It does not include what happens to be ordered by a
 * lock of the library, by a run queue, or because two tasks share a worker.
 *
 *	context   what ThreadSanitizer considers a thread. Each task has one of
 *	          its own from its start to its end. A thread's own code has the
 *	          context of the thread. The scheduling code of a worker has
 *	          one, too. No code of the program runs in that, so a context
 *	          that is created there is ordered after nothing
 *	edge      sn_race_release(x) before, sn_race_acquire(x) after
 *	fresh     memory whose earlier accesses are forgotten, because it gets
 *	          another user: the stack below a task that begins, blocks of
 *	          the pool, and, whenever a thread changes its context, the
 *	          thread-local variables, errno among them: code that runs on
 *	          one thread never runs at the same time
 *
 * See diag/docs/design.md.
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
/* The same for the last acquire: *x may be used for something else after it. */
void sn_race_acquire_last(const void *x);

/* Between these two calls, ThreadSanitizer ignores what the calling thread
 * does. */
void sn_race_hide(void);
void sn_race_show(void);

/* Forget the accesses to the memory: only the caller uses it now. */
void sn_race_fresh(void *memory, size_t size);

/* The calling thread has a worker from now on. */
void sn_race_enter_thread(void);

/* Continue in the context of the worker's scheduling code. Returns the previous
 * context. */
void *sn_race_leave(void);
/* Continue in a context that sn_race_leave() has returned. */
void sn_race_return(void *context);

/* A task was created here. Returns the argument for sn_race_begin(). */
void *sn_race_sent(void);

/* Continue in a new context. What follows happens after sn_race_sent(), and is
 * ordered with nothing else. low: the lowest address of the running stack;
 * NULL: of the thread's own. Returns the previous context, for
 * sn_race_end(). */
void *sn_race_begin(void *sent, char *low);
/* The same, if the calling thread is in the context of its scheduling code.
 * Otherwise do nothing and return NULL. */
void *sn_race_begin_apart(char *low);
void  sn_race_end(void *outer, char *low);

/* Call these around the start of a thread, so that it is ordered after
 * nothing. */
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
