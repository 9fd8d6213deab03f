/* SPDX-License-Identifier: Apache-2.0 */
/* profiler.h - reports threads and waits to a profiler
 * (sennit/detail/debugger.h), and says what a thread runs.
 *
 * Without a profiler, a thread reads one word when it begins and when it ends,
 * and waits cost nothing: the bit OBSERVE_SLEEPS is one of those that enable
 * the hooks of sched/hooks.h.
 */
#ifndef SN_PROFILER_H
#define SN_PROFILER_H

#include "sched/hooks.h"

/* The fiber for whose blocking call the thread works; NULL: none. */
extern _Thread_local const struct sennit_fiber *sn_called_by
	__attribute__((tls_model("initial-exec")));

/* Report whether waits of w are reported to a profiler. Owner only. */
static inline bool sn_worker_is_profiled(const struct worker *w)
{
	return unlikely(w->home.observed & OBSERVE_SLEEPS);
}

/* The running fiber, which has *t, begins to wait for t->kind. t->slept may be
 * left from a wait that continues, or from one that ended after the profiler
 * had stopped. */
COLD void sn_profiler_note_wait(const struct worker *w, struct fiber_times *t);

static inline void sn_profiler_begin_wait(const struct worker *w,
					  struct fiber_times  *t)
{
	if (unlikely(t->slept) || sn_worker_is_profiled(w))
		sn_profiler_note_wait(w, t);
}

/* The wait is over. t->slept is not 0. */
COLD void sn_profiler_end_wait(struct fiber_times *t);

/* Called when *s is in the list of schedulers, and ready. */
void sn_profiler_add(sennit_scheduler *s);

/* See struct sennit_debug_calls. */
void sn_profiler_set(const struct sennit_debug_profiler *p, bool waits);

/* In the child of a fork. */
void sn_profiler_fork(void);

#endif
