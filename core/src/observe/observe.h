/* SPDX-License-Identifier: Apache-2.0 */
/* observe.h - what metrics, probes and traces share. They implement the hooks
 * of sched/hooks.h, which says when these are called.
 */
#ifndef SN_OBSERVE_H
#define SN_OBSERVE_H

#include "observe/profiler.h"
#include "os/os.h"
#include "sched/hooks.h"

#include <stdbool.h>

/* --- probes --------------------------------------------------------------- */

/* Static probes (USDT) for bpftrace, perf, SystemTap and gdb.
 *
 * A probe is a nop whose address and arguments are in a note of the library's
 * file. A tracer puts a breakpoint there and adds 1 to the probe's semaphore, a
 * word in the library's data. Workers check the semaphores at intervals
 * (sn_hook_update), so the hot paths have neither the nops nor the arguments.
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

/* Those of the other probes are in sched/hooks.h. */
PROBE_SEMAPHORE(steal);
PROBE_SEMAPHORE(park);
PROBE_SEMAPHORE(overflow);

#ifdef __clang__ /* the header's macros omit an argument */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

/* PROBE(name, argument...) with two to five arguments. */
#define PROBE(name, ...)                                            \
	do {                                                        \
		if (__builtin_expect(sennit_##name##_semaphore, 0)) \
			STAP_PROBEV(sennit, name, __VA_ARGS__);     \
	} while (0)
#else
#define PROBE(name, ...) \
	do {             \
	} while (0)
#endif

/* --- what a worker records ------------------------------------------------ */

/* Set or clear OBSERVE_* bits of w: see sched/hooks.h. Owner only. */
COLD void sn_worker_observe(struct worker *w, uint32_t bits, bool on);

static inline struct measures *sn_observe_measures(struct observe_state *o)
{
	return a_load_acq(&o->measures); /* <- observe.measures */
}

static inline bool sn_observe_is_timed(const struct observe_shared *o)
{
	return a_load_rlx(&o->every); /* for a gauge */
}

static inline void sn_observe_count_call(struct observe_state *o)
{
	a_bump_owner(&o->rare.calls);
}

/* Count that the next block only continues a wait that was counted. */
static inline void sn_observe_count_again(struct observe_state *o)
{
	a_bump_owner(&o->rare.again);
	a_fence(); /* <-> metrics.again: before the block is counted */
}

/* --- waits for a mutex ---------------------------------------------------- */

/* The running fiber *f, or thread (NULL), has stopped waiting for a mutex,
 * after one sleep or several, whether or not it got the mutex. */
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

/* --- tasks inside others -------------------------------------------------- */

/* Report whether to skip the next task, which will run on the stack of the
 * running one. A skipped task calls no hook at its end. */
static inline bool sn_observe_pass_inside(struct worker *w)
{
	return sn_observe_is_passing(w) && !w->home.current->locals &&
	       sn_observe_pass(&w->observe, &w->observe.task_in);
}

/* The state of an observed task while another task runs on its stack. It is
 * restored when the other task ends. */
struct observed_task {
	uint64_t  ran, began;
	uint32_t  times_off;
	uint32_t  traced;
	uintptr_t told;
};
void sn_observe_begin_inside(struct worker *w, const struct task *t,
			     struct observed_task *outer);
void sn_observe_end_inside(struct worker *w, const struct observed_task *outer);

#endif
