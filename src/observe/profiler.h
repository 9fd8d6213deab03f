/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h - tells a profiler of threads and waits (sennit/debugger.h), and
 * says what a thread runs.
 *
 * While there is no profiler, a thread looks at a word when it begins and when
 * it ends. Waits cost nothing then: the bit OBSERVE_SLEEPS is one of those that
 * lead to the hooks of observe.h.
 */
#ifndef SN_PROFILER_H
#define SN_PROFILER_H

#include "sched/state.h"
#include "sennit/debugger.h"

extern a_ptr sn_profiler_hooks; /* any: struct sennit_debug_profiler; NULL:
				 * none */

/* The fiber for whose blocking call the thread works; NULL: for none. */
extern _Thread_local const struct sennit_fiber *sn_called_by
	__attribute__((tls_model("initial-exec")));

/* Whether a profiler is told of the waits of w. Owner only. */
static inline bool sn_worker_is_profiled(const struct worker *w)
{
	return unlikely(w->home.observed & OBSERVE_SLEEPS);
}

/* The calling thread begins or ends: see struct sennit_debug_profiler. */
static inline void sn_profiler_thread(bool begins)
{
	/* <- profile.on */
	const struct sennit_debug_profiler *p = a_load_acq(&sn_profiler_hooks);

	if (unlikely(p))
		p->thread(begins);
}

/* The running fiber, which has *t, begins to wait for t->kind, and slept may be
 * that of a wait that goes on, or of one that ended when there was no profiler
 * any more. */
COLD void sn_profiler_note_wait(const struct worker *w, struct fiber_times *t);

static inline void sn_profiler_begin_wait(const struct worker *w,
					  struct fiber_times  *t)
{
	if (unlikely(t->slept) || sn_worker_is_profiled(w))
		sn_profiler_note_wait(w, t);
}

/* It is over: t->slept is not 0. */
COLD void sn_profiler_end_wait(struct fiber_times *t);

/* *s is in the list of schedulers, ready. */
void sn_profiler_add(sennit_scheduler *s);

/* See struct sennit_debug_calls. */
void sn_profiler_set(const struct sennit_debug_profiler *p, bool waits);

/* In the child of a fork. */
void sn_profiler_fork(void);

#endif
