/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/observe.h"

#include "base/memory.h"
#include "local/names.h"
#include "observe/depth.h"
#include "observe/environment.h"
#include "observe/histogram.h"
#include "observe/overflow.h"
#include "observe/profiler.h"
#include "observe/report.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/worker.h"

#include <errno.h>

static uintptr_t task_of(const struct sennit_fiber *f)
{
	return (uintptr_t)sn_fiber_state_get_task(&f->state);
}

#ifdef SENNIT_HAVE_SDT
/* Return the worker's number for probes. */
static int64_t number_of(const struct worker *w)
{
	return w ? (int32_t)w->index : -2;
}

/* Return the name of the task's function, for a tracer. A tracer in the kernel
 * reads only memory that is present, so touch the name first. */
static const char *fiber_name_of(const struct sennit_fiber *f)
{
	const char *name = sn_task_names_get((sennit_task_fn *)task_of(f));

	if (name)
		(void)*(const volatile char *)name;
	return name;
}
#endif

/* A time before all others: the wait was over as soon as it began. */
#define READY_AT_ONCE UINT64_C(1)

static struct measures *measures_of(struct worker *w)
{
	return (struct measures *)a_load_rlx(&w->observe.measures);
}

/* --- on and off --------------------------------------------------------- */

/* Allocate the histograms. Returns whether there is memory. */
static bool take_measures(struct worker *w)
{
	struct measures *m = measures_of(w);

	if (m)
		return true;
	m = sn_memory_take(&w->scheduler->memory, sizeof(*m),
			   _Alignof(struct measures));
	if (m)
		/* -> observe.measures: zeros */
		a_store_rel(&w->observe.measures, m);
	return m;
}

void sn_worker_observe(struct worker *w, uint32_t bits, bool on)
{
	/* Each wait tests it, and goes to suspend_aside() of loop.c. */
	static struct cxx_globals busy = { .uncaught = 1 }; /* never written */

	w->home.observed = (uint8_t)((w->home.observed & ~bits) |
				     (on ? bits : 0));
	w->home.cxx = w->home.observed ? &busy : w->exceptions;
	/* Members of groups run on the thread's own stack, too. */
	w->main.cleanup &= ~CLEANUP_OBSERVED;
	if (w->home.observed)
		w->main.cleanup |= CLEANUP_OBSERVED;
}

void sn_worker_update_recording(struct worker *w)
{
	bool on = sn_recorder_update(&w->recorder);

	if (on && !sn_worker_is_traced(w))
		sn_trace_found(w);
	sn_run_queue_record(&w->run, on);
	sn_worker_observe(w, OBSERVE_TRACE, on);
	sn_worker_observe(w, OBSERVE_SLEEPS,
			  a_load_acq(&w->scheduler->observe.traced) &
				  OBSERVE_SLEEPS); /* <- trace.on */
}

COLD void sn_observe_change(struct worker *w, uint32_t every)
{
	struct observe_state *o = &w->observe;

	ASSERT_OWNER(w);
	if (every && !take_measures(w))
		every = 0;
	if (!every)
		o->times_off++;
	o->every = every;
	o->task_in = every;
	o->wait_in = every;
	sn_worker_observe(w, OBSERVE_TIMES, every);
	sn_worker_observe(w, OBSERVE_PROBES, sn_probes_wanted());
}

/* --- tasks -------------------------------------------------------------- */

/* Return the time at which the task or wait that ended last ended, and clear
 * it, so that it is used only once; else the current time. */
static uint64_t take_stamp(struct worker *w)
{
	uint64_t stamp = w->observe.stamp;

	w->observe.stamp = 0;
	return stamp ? stamp : sn_stopwatch_read();
}

/* Count down. Returns whether this task or wait is to be timed. */
static bool is_turn(uint32_t *left, uint32_t every)
{
	if (!every || --*left)
		return false;
	*left = every;
	return true;
}

static NOINLINE void begin_observed_task(struct worker *w, const struct task *t,
					 bool inside)
{
	struct sennit_fiber  *f = w->home.current;
	struct observe_state *o = &w->observe;

	if (is_turn(&o->task_in, o->every)) {
		f->times.ran = 0;
		f->times.times_off = o->times_off;
		f->times.began = take_stamp(w);
	}
	if (sn_worker_is_traced(w))
		sn_trace_begin(w, t->run, t->argument, inside);
	PROBE(task__begin, number_of(w), f->id, task_of(f), fiber_name_of(f));
}

static ALWAYS_INLINE void begin_or_pass(struct worker *w, const struct task *t,
					bool inside)
{
	struct sennit_fiber *f = w->home.current;

	f->cleanup |= CLEANUP_OBSERVED;
	f->times.began = 0;
	if (unlikely(!sn_observe_samples(w) ||
		     !sn_observe_pass(&w->observe, &w->observe.task_in)))
		begin_observed_task(w, t, inside);
}

void sn_observe_begin(struct worker *w, const struct task *t)
{
	begin_or_pass(w, t, false);
}

void sn_observe_end(struct worker *w, uintptr_t task)
{
	struct sennit_fiber *f = w->home.current;
	uint64_t             now = 0;

	f->cleanup &= ~CLEANUP_OBSERVED;
	/* Waits of the task while timing was off were not seen, so its time is
	 * not known. */
	if (f->times.began && f->times.times_off == w->observe.times_off) {
		now = sn_stopwatch_read();
		sn_histogram_record(&measures_of(w)->run,
				    sn_stopwatch_between(f->times.began, now) +
					    f->times.ran);
	}
	f->times.began = 0;
	w->observe.stamp = now;
	if (sn_worker_is_traced(w))
		sn_trace_end(w, task);
	PROBE(task__end, number_of(w), f->id, task);
}

void sn_observe_begin_inside(struct worker *w, const struct task *t,
			     struct observed_task *outer)
{
	const struct fiber_times *times = &w->home.current->times;

	*outer = (struct observed_task){ times->ran, times->began,
					 times->times_off, times->traced,
					 times->told };
	if (outer->began) {
		w->observe.stamp = sn_stopwatch_read();
		outer->ran += sn_stopwatch_between(outer->began,
						   w->observe.stamp);
	}
	begin_or_pass(w, t, true);
}

void sn_observe_end_inside(struct worker *w, const struct observed_task *outer)
{
	struct sennit_fiber *f = w->home.current;

	sn_observe_end(w, task_of(f));
	f->times.ran = outer->ran;
	f->times.began = outer->began ? take_stamp(w) : 0;
	f->times.times_off = outer->times_off;
	f->times.traced = outer->traced;
	f->times.told = outer->told;
	w->observe.stamp = 0;
}

/* --- waits -------------------------------------------------------------- */

/* A waker on another thread may write times.ready meanwhile. */
uint64_t sn_hook_wait(struct worker *w)
{
	struct observe_state *o = &w->observe;
	struct sennit_fiber  *f = w->home.current;
	struct fiber_times   *t = &f->times;
	bool     timed = !t->goes_on && is_turn(&o->wait_in, o->every);
	uint64_t now = timed || t->began ? sn_stopwatch_read() : 0;

	if (t->began)
		t->ran += sn_stopwatch_between(t->began, now);
	/* A waker that misses this store takes the wait for one that ended as
	 * soon as it began: see READY_AT_ONCE. */
	if (!t->goes_on)
		a_store_rlx(&t->since, timed ? now : 0);
	t->kind = sn_fiber_state_kind(&f->state);
	if (timed && !t->kind)
		t->ready = now; /* it yields */
	o->stamp = now;
	sn_profiler_begin_wait(w, t);
	PROBE(wait, number_of(w), f->id, t->kind, a_load_rlx(&f->state.object),
	      task_of(f));
	return sn_worker_is_traced(w) ? sn_trace_wait(w) : 0;
}

/* Record that the wait of t was over at `ready` and the fiber ran again at
 * `now`. */
static void record_wait(struct measures *m, struct fiber_times *t,
			uint64_t ready, uint64_t now)
{
	uint64_t since = a_load_rlx(&t->since);
	bool     early = (int64_t)(ready - since) < 0;

	a_store_rlx(&t->since, 0);
	if (!ready)
		return;
	/* a yield is not a wait */
	if (t->kind)
		sn_histogram_record(&m->waits[t->kind],
				    sn_stopwatch_between(since, ready));
	sn_histogram_record(&m->latency,
			    sn_stopwatch_between(early ? since : ready, now));
}

void sn_observe_time_mutex(struct sennit_fiber *f)
{
	struct fiber_times *t = &f->times;

	record_wait(measures_of(sn_worker_of(f)), t, t->woken, t->resumed);
}

/* A timed sleep is over at `now`. So is the wait, unless it is for a mutex. */
static void end_sleep(struct worker *w, struct fiber_times *t, uint64_t now)
{
	if (t->kind == SENNIT_WAITS_FOR_MUTEX) {
		t->woken = t->ready;
		t->resumed = now;
	} else {
		record_wait(measures_of(w), t, t->ready, now);
	}
}

void sn_hook_resume(struct worker *w, uint64_t flow)
{
	struct fiber_times *t = &w->home.current->times;
	uint64_t            since = a_load_rlx(&t->since);
	uint64_t            now = since || t->began ? take_stamp(w) : 0;

	w->observe.stamp = 0;
	if (since)
		end_sleep(w, t, now);
	t->ready = 0;
	if (t->began)
		t->began = now;
	if (unlikely(t->slept) && t->kind != SENNIT_WAITS_FOR_MUTEX)
		sn_profiler_end_wait(t);
	if (flow && sn_worker_is_traced(w))
		sn_trace_resume(w, flow);
}

/* Return the time at which *n becomes ready; 0 for a wait that is not timed. A
 * stale 0 is possible only while the fiber begins to wait; such a wait counts
 * as over at once. */
static uint64_t ready_time(const struct waiter *n)
{
	/* <- observe.every: the stopwatch is ready */
	if (!a_load_acq(&n->home->scheduler->observe.every))
		return 0;
	return a_load_rlx(&n->fiber->times.since) ? sn_stopwatch_read()
						  : READY_AT_ONCE;
}

static void tell_wake(const struct worker *waker, const struct waiter *n)
{
	(void)waker; /* unused without probes */
	sn_trace_wake(n);
	PROBE(wake, number_of(waker), number_of(n->home), n->fiber->id,
	      sn_fiber_state_kind(&n->fiber->state));
}

static NOINLINE void time_wake(const struct worker *waker,
			       const struct waiter *n)
{
	struct fiber_times *t = &n->fiber->times;

	if (waker != n->home)
		t->ready = ready_time(n);
	else if (a_load_rlx(&t->since))
		t->ready = sn_stopwatch_read();
	tell_wake(waker, n);
}

void sn_observe_wake(const struct worker *waker, const struct waiter *n)
{
	if (waker != n->home || !sn_observe_samples(waker) ||
	    a_load_rlx(&n->fiber->times.since))
		time_wake(waker, n);
}

void sn_observe_expire(struct worker *w, const struct waiter *n,
		       sennit_time deadline)
{
	struct fiber_times *t = &n->fiber->times;
	uint64_t            since = a_load_rlx(&t->since);

	if (since) {
		uint64_t now = sn_stopwatch_read();
		uint64_t late = sn_stopwatch_units(os_now() - deadline);

		t->ready = late < now - since ? now - late : READY_AT_ONCE;
	}
	tell_wake(w, n);
}

/* --- for all workers ---------------------------------------------------- */

void sn_hook_steal(struct worker *w, const struct worker *victim,
		   uint32_t tasks)
{
	PROBE(steal, number_of(w), number_of(victim), tasks);
	if (sn_worker_is_traced(w))
		sn_trace_steal(w, victim, tasks);
}

void sn_hook_search(struct worker *w)
{
	if (sn_worker_is_traced(w))
		sn_trace_search(w);
}

void sn_hook_park(struct worker *w)
{
	PROBE(park, number_of(w), sn_counters_blocked(&w->counters));
	if (sn_worker_is_traced(w))
		sn_trace_park(w);
}

void sn_hook_unpark(struct worker *w)
{
	if (sn_worker_is_traced(w))
		sn_trace_unpark(w);
}

/* --- start and end of a worker ------------------------------------------ */

static void join_measures(struct measures *sum, const struct measures *more)
{
	sn_histogram_join(&sum->run, &more->run);
	sn_histogram_join(&sum->latency, &more->latency);
	for (int i = 0; i < OBSERVE_WAITS; i++)
		sn_histogram_join(&sum->waits[i], &more->waits[i]);
}

static void join_rare(struct rare_counters       *sum,
		      const struct rare_counters *more)
{
	a_store_rlx(&sum->calls,
		    a_load_rlx(&sum->calls) + a_load_rlx(&more->calls));
	a_store_rlx(&sum->cancels,
		    a_load_rlx(&sum->cancels) + a_load_rlx(&more->cancels));
	a_store_rlx(&sum->again,
		    a_load_rlx(&sum->again) + a_load_rlx(&more->again));
}

/* Add the histograms and counters of w, which ends, to the sums. */
static void leave_measures(struct worker *w)
{
	struct observe_shared *s = &w->scheduler->observe;
	struct measures       *m = measures_of(w);

	join_rare(&s->past_rare, &w->observe.rare);
	if (!m)
		return;
	if (s->past) {
		join_measures(s->past, m);
	} else {
		s->past = m;
		a_store_rlx(&w->observe.measures, NULL); /* it has no readers
							  * any more */
	}
}

void sn_hook_worker_init(struct worker *w)
{
	sn_recorder_init(&w->recorder, &w->scheduler->observe.traced, &w->home);
}

void sn_hook_worker_free(struct worker *w)
{
	sn_memory_give(&w->scheduler->memory, sn_observe_measures(&w->observe),
		       sizeof(struct measures));
}

/* The worker may have been traced with another thread. */
void sn_hook_enter(struct worker *w)
{
	w->observe.every = 0;
	w->observe.stamp = 0;
	sn_worker_observe(w, OBSERVE_TIMES | OBSERVE_PROBES, false);
}

void sn_hook_start(struct worker *w)
{
	sn_trace_enter(w);
}

void sn_hook_run(struct worker *w)
{
	sn_stack_overflow_enter(w);
}

void sn_hook_bind(struct worker *w)
{
	sn_hook_update(w);
	sn_stack_overflow_enter(w);
	sn_trace_join(w);
	sn_hook_thread(true);
}

void sn_hook_retire(struct worker *w)
{
	if (sn_worker_is_traced(w))
		sn_trace_park(w);
}

void sn_hook_unbind(struct worker *w)
{
	leave_measures(w);
	sn_trace_leave(w);
}

/* --- schedulers --------------------------------------------------------- */

void sn_hook_scheduler_init(sennit_scheduler *s, sennit_config *config)
{
	sn_environment_prepare(config);
	pthread_mutex_init(&s->tracing.lock, NULL);
}

void sn_hook_scheduler_join(sennit_scheduler *s)
{
	sn_scheduler_list_join(s);
}

int sn_hook_scheduler_prepare(sennit_scheduler *s)
{
	if (s->config.measure_stacks) {
		s->depths = sn_memory_take(&s->memory, sizeof(*s->depths),
					   _Alignof(struct stack_depths));
		if (!s->depths)
			return -ENOMEM;
	}
	return sn_trace_prepare(s);
}

void sn_hook_scheduler_ready(sennit_scheduler *s)
{
	sn_scheduler_list_set_ready(s);
	sn_profiler_add(s);
	sn_environment_add(s);
}

void sn_hook_scheduler_end(sennit_scheduler *s)
{
	sn_environment_remove(s);
	sn_scheduler_list_leave(s);
}

void sn_hook_scheduler_free(sennit_scheduler *s)
{
	sn_memory_give(&s->memory, s->depths, sizeof(*s->depths));
	sn_memory_give(&s->memory, s->observe.past, sizeof(*s->observe.past));
	sn_trace_crash_forget(s);
	sn_trace_free(&s->tracing);
}

void sn_hook_fork(void)
{
	sn_scheduler_list_fork();
	sn_environment_fork();
	sn_profiler_fork();
}

/* --- probes --------------------------------------------------------------- */

#ifdef SENNIT_HAVE_SDT
/* Tracers find the semaphores by the addresses in the notes. The section is the
 * one that SystemTap's header names. */
#define DEFINE(name)                                      \
	volatile unsigned short sennit_##name##_semaphore \
		__attribute__((section(".probes"), used))

DEFINE(task__begin);
DEFINE(task__end);
DEFINE(wait);
DEFINE(wake);
DEFINE(steal);
DEFINE(park);
DEFINE(overflow);
#else
typedef int sn_probes_none; /* a file must declare something */
#endif
