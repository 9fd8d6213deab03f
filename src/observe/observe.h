/* SPDX-License-Identifier: Apache-2.0 */
/* observe.h - what metrics, probes and traces learn of tasks and waits.
 *
 *	task   begin -> end               on one fiber, waits included
 *	fiber  wait -> wake -> resume     began to wait, became ready, runs
 *
 * Nothing here runs while nobody observes: `home.observed` of the worker is
 * then 0, and its test is all that the hot paths do. A suspension does not even
 * test it: home.cxx leads to the rare path. The worker's own thread sets both
 * (sn_worker_observe): for metrics and probes now and then (sn_observe_update),
 * for a trace when it finds a note in its mailbox (struct recorder). What began
 * unobserved is not observed later: the hooks of one task, and of one wait,
 * belong together.
 *
 * Times are in the units of observe/histogram.h. To read the counter costs more
 * than all the rest, so the time at which a task ended or a fiber began to wait
 * is also that at which the next one of the worker began or resumed, unless the
 * worker has done something else in between: observe.stamp.
 */
#ifndef SN_OBSERVE_H
#define SN_OBSERVE_H

#include "observe/profiler.h"
#include "os/os.h"
#include "sched/state.h"

#include <stdbool.h>

/* --- probes --------------------------------------------------------------- */

/* Static probes (USDT) for bpftrace, perf, SystemTap and gdb.
 *
 * A probe is a nop whose place and arguments stand in a note of the library's
 * file. A tracer puts a breakpoint there and adds 1 to the probe's semaphore, a
 * word in the library's data. Workers look at the semaphores now and then (see
 * observe.h), so the hot paths have neither the nops nor the arguments.
 *
 * Arguments, all of them integers:
 *
 *	worker   index of the worker; -1: a bound thread; -2: another thread
 *	fiber    its number, as in reports
 *	task     address of the task's function; 0: a thread's own stack
 *	name     address of the name of the task's function; 0: none
 *	kind     enum sennit_waits_for
 *
 * Without <sys/sdt.h> there are no probes.
 */

#ifdef SENNIT_HAVE_SDT
#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC    1
#include <sys/sdt.h>

/* Written by the tracer: the kernel, or a debugger. */
#define PROBE_SEMAPHORE(name)                                    \
	extern volatile unsigned short sennit_##name##_semaphore \
		__attribute__((visibility("hidden")))

PROBE_SEMAPHORE(task__begin);
PROBE_SEMAPHORE(task__end);
PROBE_SEMAPHORE(wait);
PROBE_SEMAPHORE(wake);
PROBE_SEMAPHORE(steal);
PROBE_SEMAPHORE(park);
PROBE_SEMAPHORE(overflow);

#ifdef __clang__ /* the macros of the header leave an argument out */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

/* PROBE(name, argument...) with two to five arguments. */
#define PROBE(name, ...)                                            \
	do {                                                        \
		if (__builtin_expect(sennit_##name##_semaphore, 0)) \
			STAP_PROBEV(sennit, name, __VA_ARGS__);     \
	} while (0)

/* Whether a probe is in use that only observed workers pass. */
static inline bool sn_probes_wanted(void)
{
	return sennit_task__begin_semaphore | sennit_task__end_semaphore |
	       sennit_wait_semaphore | sennit_wake_semaphore;
}
#else
#define PROBE(name, ...) \
	do {             \
	} while (0)

static inline bool sn_probes_wanted(void)
{
	return false;
}
#endif

/* --- following ------------------------------------------------------------ */

/* Whether the events of w are recorded. Owner only. */
static inline bool sn_worker_is_traced(const struct worker *w)
{
	return unlikely(w->home.observed & OBSERVE_TRACE);
}

/* Set or clear OBSERVE_* bits of w: see observe.h. Owner only. */
COLD void sn_worker_observe(struct worker *w, uint32_t bits, bool on);

/* Start or stop to record events on w, as its scheduler says. Owner only. */
COLD void sn_worker_update_recording(struct worker *w);

static inline struct measures *sn_observe_measures(struct observe_state *o)
{
	return a_load_acq(&o->measures); /* <- observe.measures */
}

static inline bool sn_observe_is_timed(const struct observe_shared *o)
{
	return a_load_rlx(&o->every); /* for a gauge */
}

/* Count down. Returns whether it is not yet the turn of one to be timed. */
static inline bool sn_observe_pass(struct observe_state *o, uint32_t *left)
{
	if (*left <= 1)
		return false;
	--*left;
	o->stamp = 0;
	return true;
}

/* The worker has a new thread, which has not looked yet. */
static inline void sn_observe_reset(struct observe_state *o)
{
	o->every = 0;
	o->stamp = 0;
}

static inline void sn_observe_count_call(struct observe_state *o)
{
	a_bump_owner(&o->rare.calls);
}

/* The block that follows only goes on with a wait that was counted. */
static inline void sn_observe_count_again(struct observe_state *o)
{
	a_bump_owner(&o->rare.again);
	a_fence(); /* <-> metrics.again: before the block is counted */
}

static inline void sn_observe_count_cancel(struct observe_state *o)
{
	a_bump_owner(&o->rare.cancels);
}

/* Follow what the scheduler and the tracers want. Owner only, between tasks and
 * waits. */
void sn_observe_change(struct worker *w, uint32_t every);

static inline void sn_observe_update(struct worker *w)
{
	const struct observe_shared *s = &w->scheduler->observe;
	/* <- observe.every: the stopwatch is ready */
	uint32_t every = a_load_acq(&s->every);
	bool     probed = w->home.observed & OBSERVE_PROBES;

	w->observe.stamp = 0;
	if (unlikely(every != w->observe.every || sn_probes_wanted() != probed))
		sn_observe_change(w, every);
	/* Not stale where it matters: who has taken a task that was queued
	 * after the start sees the start. */
	if (unlikely(a_load_rlx(&s->traced) !=
		     (w->home.observed & (OBSERVE_TRACE | OBSERVE_SLEEPS))))
		sn_worker_update_recording(w);
}

/* What ran before has stopped at an unknown time. */
static inline void sn_observe_forget(struct worker *w)
{
	w->observe.stamp = 0;
}

/* --- hooks, for observed workers only ----------------------------------- */

/* The task that reports show, which is *t, begins on the running fiber. It gets
 * CLEANUP_OBSERVED; a task that ends with that mark has observed its begin. */
NOINLINE void sn_observe_begin(struct worker *w, const struct task *t);
NOINLINE void sn_observe_end(struct worker *w, uintptr_t task);

/* The running fiber suspends, and has resumed. `flow` is what the first one
 * returned. */
NOINLINE uint64_t sn_observe_wait(struct worker *w);
NOINLINE void     sn_observe_resume(struct worker *w, uint64_t flow);

/* The running fiber *f, or thread (NULL), has or has not got the mutex that it
 * waited for, in one sleep or in several. */
COLD void sn_observe_time_mutex(struct sennit_fiber *f);

static inline void sn_observe_end_mutex(struct sennit_fiber *f)
{
	if (!f)
		return;
	if (unlikely(a_load_rlx(&f->times.since)))
		sn_observe_time_mutex(f);
	if (unlikely(f->times.slept))
		sn_profiler_end_wait(&f->times);
}

/* The caller, whose worker is `waker` (NULL: it has none), has claimed the wait
 * *n and is about to make its fiber ready. */
NOINLINE void sn_observe_wake(const struct worker *waker,
			      const struct waiter *n);

/* The same for a wait of a fiber of w, the caller's worker, that ends by its
 * deadline, which may have passed long ago. */
COLD void sn_observe_expire(struct worker *w, const struct waiter *n,
			    sennit_time deadline);

/* --- what histograms leave out ------------------------------------------ */

/* Most tasks and waits pass untimed while only the histograms observe, which
 * time one of many. To pass must not cost more than to be counted. */
static inline bool sn_observe_samples(const struct worker *w)
{
	return w->home.observed == OBSERVE_TIMES;
}

/* Whether the running fiber has nothing but the mark of a task that passes. */
static inline bool sn_observe_is_passing(const struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;

	return (f->cleanup & ~CLEANUP_FP_SHARED) == CLEANUP_OBSERVED &&
	       sn_observe_samples(w) && !f->times.began;
}

/* The task that ends on the running fiber may have passed: whether it has, and
 * has nothing else to end. */
static inline bool sn_observe_pass_end(struct worker *w)
{
	if (!sn_observe_is_passing(w))
		return false;
	w->home.current->cleanup &= CLEANUP_FP_SHARED;
	w->observe.stamp = 0;
	return true;
}

/* Whether the next task, which is to run on the stack of the running one,
 * passes. It has no end of its own. */
static inline bool sn_observe_pass_inside(struct worker *w)
{
	return sn_observe_is_passing(w) && !w->home.current->locals &&
	       sn_observe_pass(&w->observe, &w->observe.task_in);
}

/* Whether the wait that begins passes, as all of one that goes on does, or
 * nothing of it. Its fiber then handles no exception. If so, call
 * sn_observe_resume_passed after it. */
static inline bool sn_observe_pass_wait(struct worker *w)
{
	const struct fiber_times *t = &w->home.current->times;

	return sn_observe_samples(w) && !t->began &&
	       !sn_cxx_is_busy(w->exceptions) &&
	       (unlikely(t->goes_on)
			? !a_load_rlx(&t->since)
			: sn_observe_pass(&w->observe, &w->observe.wait_in));
}

static inline void sn_observe_resume_passed(struct worker *w)
{
	w->observe.stamp = 0;
	w->home.current->times.ready = 0;
}

/* --- tasks inside others ------------------------------------------------ */

/* A task of another's, which is observed, begins and ends on the stack of the
 * running task, which goes on afterwards. */
struct observed_task {
	uint64_t  ran, began;
	uint32_t  times_off;
	uint32_t  traced;
	uintptr_t told;
};
void sn_observe_begin_inside(struct worker *w, const struct task *t,
			     struct observed_task *outer);
void sn_observe_end_inside(struct worker *w, const struct observed_task *outer);

/* --- wakes -------------------------------------------------------------- */

/* Whether a waker must tell when it wakes a fiber of another worker. */
static inline bool sn_observe_is_wanted(const sennit_scheduler *s)
{
	return a_load_rlx(&s->observe.every) |
	       (a_load_rlx(&s->observe.traced) & OBSERVE_TRACE) |
	       sn_probes_wanted();
}

/* --- for all workers ---------------------------------------------------- */

/* w has stolen tasks. */
void sn_observe_steal(struct worker *w, const struct worker *victim,
		      uint32_t tasks);

/* w searches for work. */
void sn_observe_search(struct worker *w);

/* w falls asleep, and is awake again. */
void sn_observe_park(struct worker *w);
void sn_observe_unpark(struct worker *w);

/* --- the life of a worker ----------------------------------------------- */

/* w, a bound thread's worker, ends: its histograms and counters stay in the
 * sums. bound_workers.lock held. */
void sn_observe_leave(struct worker *w);

/* Free the histograms of threads that have unbound. */
void sn_observe_free(sennit_scheduler *s);

#endif
