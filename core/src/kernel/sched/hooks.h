/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.h - the notices by which the kernel says what happens.
 *
 *	task       begin -> end              on one fiber, waits included
 *	fiber      wait -> wake -> resume    began to wait, became ready, runs
 *	worker     search -> park -> unpark  without work
 *	thread     begins, sleeps, wakes     also threads that run no fibers
 *	scheduler  prepare -> ready -> end   in the list of the process between
 *
 * The kernel calls sn_hook_*, and calls no other function of observe/, where
 * metrics, probes, traces, profiles, reports and the stall detector implement
 * them. A hook with a flag is inline here, and calls a function of observe/
 * (sn_observe_*, sn_stall_*, sn_trace_*) only if the flag is set.
 *
 * The hooks of tasks and waits test `home.observed`, which is 0 while nothing
 * observes the worker. A suspension does not even test it: home.cxx leads to
 * the slow path. The worker's own thread sets both (sn_worker_observe): for
 * metrics and probes at intervals (sn_hook_update), for a trace when it finds a
 * message in its mailbox (struct recorder). A task or wait that began
 * unobserved stays unobserved, because the hooks of one task, and of one wait,
 * belong together.
 *
 * Times are in the units of observe/histogram.h. Reading the counter is the
 * largest cost. So the time at which a task ended or a fiber began to wait is
 * also the time at which the worker's next task began or next fiber resumed,
 * unless the worker did something else in between: observe.stamp.
 */
#ifndef SN_HOOKS_H
#define SN_HOOKS_H

#include "os/os.h"
#include "sched/state.h"
#include "sennit/detail/debugger.h"

/* --- what observes -------------------------------------------------------- */

#ifdef SENNIT_HAVE_SDT
/* The semaphores of probes: see observe/observe.h. Written by the tracer. */
#define PROBE_SEMAPHORE(name)                                    \
	extern volatile unsigned short sennit_##name##_semaphore \
		__attribute__((visibility("hidden")))

PROBE_SEMAPHORE(task__begin);
PROBE_SEMAPHORE(task__end);
PROBE_SEMAPHORE(wait);
PROBE_SEMAPHORE(wake);

/* Whether a probe of observed workers is in use. */
static inline bool sn_probes_wanted(void)
{
	return sennit_task__begin_semaphore | sennit_task__end_semaphore |
	       sennit_wait_semaphore | sennit_wake_semaphore;
}
#else
static inline bool sn_probes_wanted(void)
{
	return false;
}
#endif

/* Whether the events of w are recorded. Owner only. */
static inline bool sn_worker_is_traced(const struct worker *w)
{
	return unlikely(w->home.observed & OBSERVE_TRACE);
}

/* Whether s records, for threads other than its workers. May be stale; an event
 * at that moment may or may not be recorded. */
static inline bool sn_trace_is_wanted(const sennit_scheduler *s)
{
	return unlikely(a_load_rlx(&s->observe.traced) & OBSERVE_TRACE);
}

/* Whether only histograms observe. They time one of many tasks and waits, so
 * most are skipped, which must cost no more than counting. */
static inline bool sn_observe_samples(const struct worker *w)
{
	return w->home.observed == OBSERVE_TIMES;
}

/* Apply what the scheduler and the tracers request. Owner only, between tasks
 * and waits. */
void      sn_observe_change(struct worker *w, uint32_t every);
COLD void sn_worker_update_recording(struct worker *w);

static inline void sn_hook_update(struct worker *w)
{
	const struct observe_shared *s = &w->scheduler->observe;
	/* <- observe.every: the stopwatch is ready */
	uint32_t every = a_load_acq(&s->every);
	bool     probed = w->home.observed & OBSERVE_PROBES;

	w->observe.stamp = 0;
	if (unlikely(every != w->observe.every || sn_probes_wanted() != probed))
		sn_observe_change(w, every);
	/* Not stale where it matters: a thread that has taken a task which was
	 * queued after the start sees the start. */
	if (unlikely(a_load_rlx(&s->traced) !=
		     (w->home.observed & (OBSERVE_TRACE | OBSERVE_SLEEPS))))
		sn_worker_update_recording(w);
}

/* --- tasks ---------------------------------------------------------------- */

/* *t, the task that reports show, begins on the running fiber. The hook sets
 * CLEANUP_OBSERVED: a task that ends with this mark was observed at its
 * begin. */
NOINLINE void sn_observe_begin(struct worker *w, const struct task *t);

static inline void sn_hook_task_begin(struct worker *w, const struct task *t)
{
	if (unlikely(w->home.observed))
		sn_observe_begin(w, t);
}

/* Whether the running fiber runs a skipped task and has nothing else to clean
 * up. */
static inline bool sn_observe_is_passing(const struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;

	return (f->cleanup & ~CLEANUP_FP_SHARED) == CLEANUP_OBSERVED &&
	       sn_observe_samples(w) && !f->times.began;
}

/* Whether the task that ends on the running fiber was skipped and has nothing
 * else to clean up. If so, its mark is removed, and no other hook follows. */
static inline bool sn_hook_task_passes(struct worker *w)
{
	if (!sn_observe_is_passing(w))
		return false;
	w->home.current->cleanup &= CLEANUP_FP_SHARED;
	w->observe.stamp = 0;
	return true;
}

/* The running task, which still has its name, is about to end. */
void sn_trace_running(struct worker *w);

static inline void sn_hook_task_ending(struct worker *w)
{
	if (w->home.current->cleanup & CLEANUP_OBSERVED &&
	    sn_worker_is_traced(w))
		sn_trace_running(w);
}

/* The running fiber's task, whose function this is, has ended. */
NOINLINE void sn_observe_end(struct worker *w, uintptr_t task);

static inline void sn_hook_task_end(struct worker *w, uintptr_t task)
{
	if (w->home.current->cleanup & CLEANUP_OBSERVED)
		sn_observe_end(w, task);
}

/* Its stack's depth is measured (CLEANUP_DEPTH): record it. */
COLD void sn_depth_end_task(struct sennit_fiber *f);

static inline void sn_hook_task_depth(struct sennit_fiber *f)
{
	if (f->cleanup & CLEANUP_DEPTH)
		sn_depth_end_task(f);
}

/* f, a fiber of s, is new. */
COLD void sn_depth_begin(struct sennit_fiber *f);

static inline void sn_hook_fiber(const sennit_scheduler *s,
				 struct sennit_fiber    *f)
{
	if (s->depths)
		sn_depth_begin(f);
}

/* The running task of w has this name from now on. */
COLD void sn_trace_name(struct worker *w, const char *name);

static inline void sn_hook_task_name(struct worker *w, const char *name)
{
	if (sn_worker_is_traced(w))
		sn_trace_name(w, name);
}

/* Any thread is about to queue *t. */
COLD void sn_trace_spawn(sennit_scheduler *s, const struct task *t);

static inline void sn_hook_spawn(sennit_scheduler *s, const struct task *t)
{
	if (sn_trace_is_wanted(s))
		sn_trace_spawn(s, t);
}

/* Whether that hook does anything. */
static inline bool sn_hook_spawn_is_seen(const sennit_scheduler *s)
{
	return sn_trace_is_wanted(s);
}

/* --- waits ---------------------------------------------------------------- */

/* The running fiber of w, which is observed, suspends, or has resumed. `flow`
 * is what sn_hook_wait returned. */
NOINLINE uint64_t sn_hook_wait(struct worker *w);
NOINLINE void     sn_hook_resume(struct worker *w, uint64_t flow);

/* Count down. Returns true if this task or wait is not to be timed. */
static inline bool sn_observe_pass(struct observe_state *o, uint32_t *left)
{
	if (*left <= 1)
		return false;
	--*left;
	o->stamp = 0;
	return true;
}

/* Whether to skip the wait that begins. A wait that continues is skipped if its
 * beginning was. Only fibers that handle no exception may skip. If true, call
 * sn_hook_wait_passed after the wait, and no other hook. */
static inline bool sn_hook_wait_passes(struct worker *w)
{
	const struct fiber_times *t = &w->home.current->times;

	return sn_observe_samples(w) && !t->began &&
	       !sn_cxx_is_busy(w->exceptions) &&
	       (unlikely(t->goes_on)
			? !a_load_rlx(&t->since)
			: sn_observe_pass(&w->observe, &w->observe.wait_in));
}

static inline void sn_hook_wait_passed(struct worker *w)
{
	w->observe.stamp = 0;
	w->home.current->times.ready = 0;
}

/* The caller has claimed the wait *n and is about to make its fiber ready.
 * `waker` is the caller's worker; NULL: it has none. */
NOINLINE void sn_observe_wake(const struct worker *waker,
			      const struct waiter *n);

/* The fiber belongs to w, the caller's worker. */
static inline void sn_hook_wake(const struct worker *w, const struct waiter *n)
{
	if (unlikely(w->home.observed))
		sn_observe_wake(w, n);
}

/* It belongs to another worker. */
static inline void sn_hook_wake_other(const struct waiter *n)
{
	const struct observe_shared *s = &n->home->scheduler->observe;

	if (unlikely(a_load_rlx(&s->every) |
		     (a_load_rlx(&s->traced) & OBSERVE_TRACE) |
		     sn_probes_wanted()))
		sn_observe_wake(sn_self, n);
}

/* *n is of a thread without a worker. */
COLD void sn_trace_wake_thread(const struct waiter *n);

static inline void sn_hook_wake_thread(const struct waiter *n)
{
	if (sn_self && sn_worker_is_traced(sn_self))
		sn_trace_wake_thread(n);
}

/* The wait *n of a fiber of w, the caller's worker, ends by its deadline, which
 * may have passed long ago. */
COLD void sn_observe_expire(struct worker *w, const struct waiter *n,
			    sennit_time deadline);

static inline void sn_hook_expire(struct worker *w, const struct waiter *n,
				  sennit_time deadline)
{
	if (unlikely(w->home.observed))
		sn_observe_expire(w, n, deadline);
}

/* A wait of a fiber of w, the caller's worker, was cancelled. */
static inline void sn_hook_cancelled(struct worker *w)
{
	a_bump_owner(&w->observe.rare.cancels);
}

/* --- workers -------------------------------------------------------------- */

/* w has stolen tasks. */
void sn_hook_steal(struct worker *w, const struct worker *victim,
		   uint32_t tasks);

/* w searches for work. */
void sn_hook_search(struct worker *w);

/* w goes to sleep, or is awake again. */
void sn_hook_park(struct worker *w);
void sn_hook_unpark(struct worker *w);

/* What ran before stopped at an unknown time. */
static inline void sn_hook_idle(struct worker *w)
{
	w->observe.stamp = 0;
}

/* Whether a note for the observers may be among the fibers that w has taken
 * from its mailbox. A stale value is harmless: the note of a thread that has
 * just set it will arrive later. */
static inline bool sn_hook_has_note(const struct worker *w)
{
	return unlikely(a_load_rlx(&w->recorder.told));
}

/* Remove it from the chain first..*last, and look whether to record. Returns
 * the new first fiber, or NULL if none is left. Owner only. */
COLD struct node *sn_hook_take_note(struct worker *w, struct node *first,
				    struct node **last);

/* The fibers from `first` on, which other threads have woken, are ready. */
void sn_trace_ready(struct worker *w, struct node *first);

static inline void sn_hook_ready(struct worker *w, struct node *first)
{
	if (sn_worker_is_traced(w))
		sn_trace_ready(w, first);
}

/* *w is new, or about to be freed by its last user. */
void sn_hook_worker_init(struct worker *w);
void sn_hook_worker_free(struct worker *w);

/* w has got the calling thread: first any worker, then either a threaded one,
 * or a bound one that is in the list of its scheduler. */
void sn_hook_enter(struct worker *w);
void sn_hook_start(struct worker *w);
void sn_hook_bind(struct worker *w);

/* The thread of w is about to run its first fiber. */
void sn_hook_run(struct worker *w);

/* w is about to give up its thread, for a while; or it is a bound worker which
 * has left the list, whose lock is held. */
void sn_hook_retire(struct worker *w);
void sn_hook_unbind(struct worker *w);

/* --- threads -------------------------------------------------------------- */

extern a_ptr sn_profiler_hooks; /* any: struct sennit_debug_profiler; NULL:
				 * none */

/* The calling thread begins or ends: see struct sennit_debug_profiler. */
static inline void sn_hook_thread(bool begins)
{
	/* <- profile.on */
	const struct sennit_debug_profiler *p = a_load_acq(&sn_profiler_hooks);

	if (unlikely(p))
		p->thread(begins);
}

/* A thread that waits and is not a fiber. */
struct stalled_thread {
	struct link             link;   /* under the lock of stall.c */
	uint32_t                thread; /* fixed: its TID */
	a_u32                  *word;   /* fixed: 0 until the thread is woken */
	const sennit_scheduler *end;    /* fixed: the scheduler for whose end it
					 * waits; NULL: none */
	bool                    listed; /* owner */
};

#if defined(SENNIT_NO_DEBUG_SWITCH) || defined(SENNIT_DETERMINISTIC)
#define STALL_IS_ON()  false
#define STALL_LISTS(t) false
#else
/* Set once, before the first scheduler's threads start. A thread that already
 * waits then counts as one outside the library. */
extern a_u32 sn_stall_on; /* any: 1: stalls are looked for */

#define STALL_IS_ON()  unlikely(a_load_rlx(&sn_stall_on))
#define STALL_LISTS(t) unlikely((t)->listed)
#endif

COLD void sn_stall_worker_sleeps(struct worker *w);
COLD void sn_stall_thread_sleeps(struct stalled_thread *t, a_u32 *word,
				 const sennit_scheduler *end,
				 sennit_time             deadline);
COLD void sn_stall_thread_woke(struct stalled_thread *t);

/* The worker is about to announce its sleep. Owner only. */
static inline void sn_hook_announce(struct worker *w)
{
	if (STALL_IS_ON())
		sn_stall_worker_sleeps(w);
}

/* The calling thread is about to sleep on *word, until the word is not 0 or the
 * deadline has passed. `end` is the scheduler for whose end it waits, or NULL.
 * It must do nothing else until it calls sn_hook_thread_wakes. */
static inline void sn_hook_thread_sleeps(struct stalled_thread *t, a_u32 *word,
					 const sennit_scheduler *end,
					 sennit_time             deadline)
{
	t->listed = false;
	if (STALL_IS_ON())
		sn_stall_thread_sleeps(t, word, end, deadline);
}

static inline void sn_hook_thread_wakes(struct stalled_thread *t)
{
	if (STALL_LISTS(t))
		sn_stall_thread_woke(t);
}

/* --- schedulers ----------------------------------------------------------- */

/* *s, which is zeroed, will be created with this configuration. */
void sn_hook_scheduler_init(sennit_scheduler *s, sennit_config *config);

/* *s has everything except its workers: debuggers find it from now on. */
void sn_hook_scheduler_join(sennit_scheduler *s);

/* Its workers exist, and no thread runs yet. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_hook_scheduler_prepare(sennit_scheduler *s);

/* It has been created. The caller holds a reference. */
void sn_hook_scheduler_ready(sennit_scheduler *s);

/* It has ended, and nothing of it is freed yet. */
void sn_hook_scheduler_end(sennit_scheduler *s);

/* Its workers are freed. Undoes sn_hook_scheduler_init. */
void sn_hook_scheduler_free(sennit_scheduler *s);

/* The process is the child of a fork. */
void sn_hook_fork(void);

#endif
